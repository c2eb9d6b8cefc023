//! Every mistake, and what is said about it: one mistake a file, in the words
//! of `tests/ui/<folder>/<mistake>.stderr`. `TRYBUILD=overwrite` writes them anew;
//! read the difference before it is kept.

/// Our own messages, and the compiler's where it evaluates a constant.
#[test]
fn ours() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/parse/*.rs");
    cases.compile_fail("tests/ui/rules/*.rs");
    cases.compile_fail("tests/ui/function/*.rs");
    cases.compile_fail("tests/ui/types/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
