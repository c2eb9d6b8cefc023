# How the code looks, and what it may not do.

step_format() {
    cargo fmt --all --check
    local crate
    for crate in fuzz/ tests/api/ tests/clients/ tests/embedded/ tests/wasm/ tests/hostile/*/; do
        # One style, whatever the edition: they share files.
        cargo fmt --manifest-path "$crate/Cargo.toml" --check -- --style-edition 2024
    done
    for crate in tests/projects/*/; do
        cargo fmt --all --manifest-path "$crate/Cargo.toml" --check -- --style-edition 2024
    done
}

step_lints() {
    cargo clippy --workspace --all-targets --all-features -- -D warnings
}

step_no_std() {
    cargo clippy -p reattempt-core -p reattempt-policy -p retry-runtime --no-default-features -- -D warnings
    cargo build -p reattempt-core -p reattempt-policy -p retry-runtime --no-default-features
}

# Warnings are errors in every one of them; those with tests show that the
# expansion also does what it says there. Each is a workspace of its own; they share what is compiled.
step_hostile() {
    local crate
    for crate in tests/hostile/*/; do
        echo "-- ${crate%/}"
        # The versions of the workspace, so that nothing new is fetched.
        cp Cargo.lock "$crate"
        cargo clippy --quiet --manifest-path "$crate/Cargo.toml" --target-dir "$target" --all-targets
        if [[ -d ${crate}tests ]]; then
            cargo test --quiet --manifest-path "$crate/Cargo.toml" --target-dir "$target"
        fi
    done
}

# What `cargo retry list` lists in its tests compiles, and the shop counts its own attempts.
step_projects() {
    local project
    for project in tests/projects/*/; do
        echo "-- ${project%/}"
        cp Cargo.lock "$project"
        cargo check --quiet --manifest-path "$project/Cargo.toml" --target-dir "$target" --workspace --all-targets
    done
    cargo test --quiet --manifest-path tests/projects/shop/Cargo.toml --target-dir "$target" -p shop-service --test attempts
}

# Each example runs, and asserts. Their servers are those of the tests.
step_examples() {
    cargo build --quiet --workspace --examples
    # shellcheck disable=SC2016
    examples '"$target/debug/examples/$example"'
}

# As a reader would run it, built alone.
step_examples_alone() {
    # shellcheck disable=SC2016
    examples 'cargo run --quiet -p "$package" --example "$example"'
}

# Runs COMMAND for each `package` and `example`.
examples() {
    local package example
    export target
    while read -r package example; do
        echo "-- $example"
        package=$package example=$example timeout --verbose 120 bash -c "$1" > "$target/example.txt" 2>&1 < /dev/null ||
            { cat "$target/example.txt"; return 1; }
    done < <(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
# One serves until it is stopped; `crates/reattempt-restate/tests` runs what it serves. The other takes 80 s.
left_out = {"restate_orders", "outage"}
for package in json.load(sys.stdin)["packages"]:
    for target in package["targets"]:
        if "example" in target["kind"] and target["name"] not in left_out:
            print(package["name"], target["name"])
')
}

# A program without `observe` has no code of events in it. It is not optimised, so that nothing is removed.
step_lean() {
    cargo build --quiet -p reattempt-benches
    # As names of modules are written in symbols.
    local module
    for module in reattempt_observe6report reattempt_config retry_runtime5named; do
        if grep -q "$module" "$target/debug/reattempt-benches"; then
            echo "a program without features has '$module' in it"
            return 1
        fi
    done
    # The compiler has asked the rules about policies that are constants.
    cargo build --quiet -p quickstart
    if grep -q reattempt_policy5rules6checks "$target/debug/quickstart"; then
        echo "a program whose policies are constants has the rules about policies in it"
        return 1
    fi
}

# What a call costs, against its bounds and the tables that are committed.
step_bounds() {
    if ! command -v valgrind > /dev/null; then
        left_out "valgrind is not installed"
        return
    fi
    cargo run --quiet --release -p reattempt-benches -- --bounds --only
}

# The rows that `bounds` leaves out: what a program of 200 functions costs to compile, and how large it is. It takes minutes.
step_compiled() {
    cargo run --quiet --release -p reattempt-benches -- --bounds --only "async function"
}

# The list of what can panic, against the lints that are lifted for it in library code, and the assertions.
step_panics() {
    local lints='unwrap_used|expect_used|get_unwrap|unwrap_in_result|panic|unreachable|indexing_slicing|string_slice'
    lints+='|arithmetic_side_effects|disallowed_methods'
    diff <(sed -n 's/^| `\(.*\.rs\)` | `\([a-z_]*\)` |.*/\1 \2/p' docs/panics.md | sort) \
        <(find src retry-*/src crates/*/src -name '*.rs' ! -path '*/tests/*' ! -name tests.rs -print0 |
            xargs -0 awk -v lints="clippy::($lints)" "$lifted" | sort)
    # What catches a panic, for programs in which nothing can.
    diff <(sed -n '/^## With `panic/,/^## Of/s/^| `\(.*\.rs\)` |.*/\1/p' docs/panics.md | sort) \
        <(find src retry-*/src crates/*/src -name '*.rs' ! -path '*/tests/*' ! -name tests.rs -print0 |
            xargs -0 grep -lE '^use std::panic::.*catch_unwind' | sort)
}

lifted='
    FNR == 1 { tests = 0; item = 0; inside = 0; attribute = 0 }
    /^#\[cfg\((all\()?test/ { attribute = 1 }
    attribute && /^(pub[(][a-z]*[)] )?mod .*\{$/ { tests = 1 }
    attribute && /^[a-z].*fn .*\{$/ { item = 1 }
    attribute && /^[a-z]/ { attribute = 0 }
    item && /^\}/ { item = 0 }
    attribute || item || tests || /^ *\/\// { next }
    /#!?\[(expect|allow)\(/ { inside = 1 }
    inside {
        rest = $0
        while (match(rest, lints)) {
            print FILENAME, substr(rest, RSTART + 8, RLENGTH - 8)
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    /\)\]/ { inside = 0 }
    /(^|[^a-z_])assert(_eq|_ne)?!\(/ { print FILENAME, "assert" }
    /(RuleId::[A-Z0-9]+|self\.rule|violation|refusal)\.refuse\(/ { print FILENAME, "refuse" }
'

step_readme() {
    local lines
    lines=$(wc -l < README.md)
    if (( lines > 150 )) || grep -qE '^.{91}' README.md; then
        echo "README.md has $lines lines; it has at most 150, of at most 90 columns"
        return 1
    fi
    if ! grep -q "Rust $(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or newer" README.md; then
        echo "README.md does not name the oldest compiler of Cargo.toml"
        return 1
    fi
    # It is the first page of docs.rs, too, where a relative link leads nowhere.
    if grep -nE '\]\(|^\[[^]]+\]: ' README.md | grep -v 'https://\|\](#'; then
        echo "README.md has a relative link, which is dead on docs.rs"
        return 1
    fi
    # Its message is one that the compiler prints, but for the place.
    if ! grep -qxF "$(grep -m1 '^error: ' README.md)" tests/ui/rules/base_above_cap.stderr; then
        echo "README.md shows a message that tests/ui/rules/base_above_cap.stderr does not have"
        return 1
    fi
    python3 scripts/claims.py
}

# Crates depend on floors below, modules import lines below: `scripts/layers.txt` has the order. And bounds of sizes.
step_layers() {
    python3 scripts/layers.py
    python3 scripts/lines.py retry-runtime/src 6000
    python3 scripts/design.py 60000
}
