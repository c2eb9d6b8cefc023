# WebAssembly and a microcontroller, by Debian's compiler: rustup's has their libraries neither compiled nor, without a
# download, as sources.

# has_compiler PACKAGES TOOL...: Debian's compiler, its sources and the tools are there.
has_compiler() {
    local tool
    for tool in /usr/bin/cargo /usr/bin/rustc "${@:2}"; do
        if ! command -v "$tool" > /dev/null; then
            left_out "$tool is not installed; the packages are rustc-web, cargo-web, rust-web-src, lld and $1"
            return 1
        fi
    done
    if [[ ! -d $(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library ]]; then
        left_out "the sources of the standard library, rust-web-src, are not installed"
        return 1
    fi
}

# Retried calls on a Cortex-M4, in an emulator: without `std`, without an allocator, by the board's own timer.
step_embedded() {
    has_compiler qemu-system-arm ld.lld qemu-system-arm || return 0
    cp Cargo.lock tests/embedded/
    local on=thumbv7em-none-eabi
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_THUMBV7EM_NONE_EABI_LINKER=ld.lld \
        CARGO_TARGET_THUMBV7EM_NONE_EABI_RUSTFLAGS="-Clink-arg=-T$PWD/tests/embedded/memory.ld" \
        /usr/bin/cargo build --quiet --release -Zbuild-std=core --target $on --target-dir "$target/embedded" \
        --manifest-path tests/embedded/Cargo.toml
    timeout --verbose 60 qemu-system-arm -machine mps2-an386 -icount shift=0,sleep=off -nographic -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel "$target/embedded/$on/release/reattempt-embedded-tests"
}

# Retried requests in node and in Chromium, what does not compile there, the build for wasi, and the size of a module.
step_wasm() {
    has_compiler nodejs wasm-ld node || return 0
    # The versions of the workspace, so that nothing new is fetched, and the tool fits the library.
    cp Cargo.lock tests/wasm/
    local bindgen=$target/tools/bin/wasm-bindgen version
    version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
    if [[ $($bindgen --version 2> /dev/null) != "wasm-bindgen $version" ]]; then
        cargo install --quiet --debug --locked --root "$target/tools" --target-dir "$target/wasm/tools" wasm-bindgen-cli --version "=$version"
        rm -rf "$target/wasm/tools"
    fi

    wasm build --release --manifest-path tests/wasm/Cargo.toml --features observe
    bound nodejs tests reattempt_wasm_tests.wasm
    bound web tests reattempt_wasm_tests.wasm
    local browser
    browser=$(command -v chromium || true)
    [[ -n $browser ]] || left_out "Chromium is not installed; node alone ran the module"
    timeout --verbose 120 node tests/wasm/run.mjs "$target/wasm/nodejs" "$target/wasm/web" ${browser:+"$browser"}

    refused "a sync function cannot wait in a browser, where a thread cannot sleep" 2 \
        --release --manifest-path tests/wasm/Cargo.toml --features sync
    # shellcheck disable=SC2016
    refused 'enable the feature `wasm` of `reattempt`' 1 -p reattempt

    # The system has a clock there, and no threads. What `DefaultTimer` needs is in the core.
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo check --quiet -Zbuild-std=std,panic_abort --target wasm32-wasip1 \
        --target-dir "$target/wasm" -p retry-runtime --features observe

    wasm build --release --manifest-path tests/wasm/Cargo.toml --examples
    local module
    for module in once by_hand runner attribute; do
        bound web "$module" "examples/$module.wasm"
        printf '%s: %s bytes, %s by gzip\n' "$module" "$(stat -c %s "$target/wasm/web/${module}_bg.wasm")" \
            "$(gzip -9c "$target/wasm/web/${module}_bg.wasm" | wc -c)"
    done
}

# Runs COMMAND of cargo for a browser.
wasm() {
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld /usr/bin/cargo "$1" --quiet \
        -Zbuild-std=std,panic_abort --target wasm32-unknown-unknown --target-dir "$target/wasm" "${@:2}"
}

# bound FOR NAME MODULE: what JavaScript loads, without the names of functions.
bound() {
    "$target/tools/bin/wasm-bindgen" --target "$1" --no-typescript --remove-name-section --remove-producers-section \
        --out-dir "$target/wasm/$1" --out-name "$2" "$target/wasm/wasm32-unknown-unknown/release/$3"
}

# refused MESSAGE TIMES ARGUMENTS: they do not compile, by errors that all say this.
refused() {
    local said
    said=$(wasm check --color never "${@:3}" 2>&1) && { echo "it compiles: ${*:3}"; return 1; }
    # All but the line in which cargo counts them.
    local errors
    errors=$(grep '^error' <<< "$said")
    if (( $(grep -cF "$1" <<< "$errors") != $2 || $(wc -l <<< "$errors") != $2 + 1 )); then
        echo "$said"
        return 1
    fi
}
