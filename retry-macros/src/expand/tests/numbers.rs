//! Values that no expansion can hold.

use super::parse;

/// What is not finite cannot be written into an expansion.
#[test]
fn numbers_may_be_as_large_as_they_like() {
    let digits = "9".repeat(400);
    let whole = ["", "-", "quantile(", "\"p", "\""].map(|start| format!("{start}{digits}"));
    let mut values: Vec<String> = whole.into();
    values.extend(["NaN", "inf", "-inf", "1e999"].map(|word| format!("\"{word}")));
    values.extend(["1e999", "-1e999"].map(str::to_owned));
    for value in values.iter().flat_map(|value| match value {
        text if text.contains('"') => ["\"", "%\"", "s\""]
            .map(|end| format!("{text}{end}"))
            .into(),
        call if call.contains('(') => vec![format!("{call})")],
        number => vec![number.clone()],
    }) {
        for key in reattempt_syntax::keys::KEYS {
            let arguments = parse(&format!("on(_), {key} = {value}"));
            let item = parse("async fn f() -> Result<(), u8> { Err(1) }");
            let tokens = crate::expand::attribute(&arguments, item).to_string();
            assert!(tokens.contains("async fn f"), "{key} = {value}");
        }
    }
}
