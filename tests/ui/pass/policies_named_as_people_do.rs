use reattempt::retry;

#[retry(policy = "Exponential With Jitter", on(_))]
fn words() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let config = "[policies.\"Exponential With Jitter\"]\nmax = 2\n";
    let config = reattempt::config::Config::from_toml(config).unwrap();
    let policy = config.policy("Exponential With Jitter").unwrap();
    assert_eq!(policy.attempts(), Some(2));
    assert_eq!(words(), Ok(1));
}
