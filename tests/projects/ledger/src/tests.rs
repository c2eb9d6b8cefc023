use again::retry as attempt;

#[test]
//~ test
#[attempt(max = 2, base = "1ms", jitter = "none", on(_), crate = ::again)]
fn written() -> Result<(), String> {
    match crate::imported::r#loop() {
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}
