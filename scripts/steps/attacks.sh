# What attacks it: faults, random input, and, by name only, sanitizers.

# A third of a minute, with a seed that the commit decides; `tests/chaos` says how to run more.
step_chaos() {
    cargo test --quiet --workspace --test chaos -- --seed "$((16#$(git rev-parse --short=8 HEAD)))" --seconds 20
}

# Mostly what was found before; `scripts/nightly` gives each target ten minutes.
step_fuzz() {
    scripts/fuzz 3
}

# Memory and threads, by a nightly compiler's sanitizers; takes minutes, so by name only.
step_sanitize() {
    local sanitizer
    for sanitizer in address thread; do
        if [[ ! -e $(rustc +nightly --print sysroot 2> /dev/null)/lib/rustlib/$triple/lib/librustc-nightly_rt.${sanitizer:0:1}san.a ]]; then
            left_out "no nightly compiler with the sanitizer of ${sanitizer}s"
            return
        fi
    done
    sanitized address
    # What threads share; the rest waits for locks of `std`, which is not compiled for it.
    TSAN_OPTIONS="suppressions=$PWD/tests/sanitize/std.txt" \
        sanitized thread budget::tests::threads breaker::tests::windows throttle::tests latencies keyed::tests
}

sanitized() {
    local sanitizer=$1
    shift
    RUSTFLAGS="-Zsanitizer=$sanitizer -Cunsafe-allow-abi-mismatch=sanitizer" cargo +nightly test --quiet --target-dir "$target/sanitize" \
        --target "$triple" -p retry-runtime --lib --features tokio,keyed -- "$@"
}

triple=x86_64-unknown-linux-gnu
