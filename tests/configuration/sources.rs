//! Files, the environment, other providers; and files that were read in the middle of a write.

use figment::Figment;
use figment::providers::{Format as _, Serialized, Toml};
use reattempt::Policy;
use reattempt::config::Config;

const FILE: &str = "[policies.storage]\nmax = 5\nbase = \"250ms\"\n";

/// The environment is handed in: that of the process belongs to all tests.
fn over(variables: &[(&str, &str)]) -> Result<Config, reattempt::config::ConfigError> {
    let owned = |(name, value): &(&str, &str)| (String::from(*name), String::from(*value));
    Config::from_text("retry.toml", FILE, variables.iter().map(owned))
}

#[test]
fn the_environment_over_the_file() {
    let config = over(&[
        ("REATTEMPT_POLICIES__STORAGE__MAX", "7"),
        ("REATTEMPT_POLICIES__STORAGE__JITTER", "none"),
        ("REATTEMPT_POLICIES__STORAGE__DEADLINE", "\"20s\""),
        ("REATTEMPT_POLICIES__MY_OWN__MAX", "unlimited"),
        (
            "REATTEMPT_POLICIES__MY_OWN__BUDGET",
            "{ tokens = 100, cost = 2 }",
        ),
        ("REATTEMPT_OPERATIONS__PAYMENTS.CHARGE__POLICY", "my_own"),
        ("REATTEMPT_DEFAULT", "storage"),
        ("REATTEMPT_ENABLED", "false"),
        // Not ours.
        ("REATTEMPT_SERVERS", "required"),
        ("REATTEMPT", "5"),
        ("PATH", "/bin"),
    ])
    .unwrap();
    let storage = config.policy("storage").unwrap();
    assert_eq!(
        storage.explain().to_string(),
        "Up to 7 attempts; delays of 250 ms, 500 ms, 1 s, 2 s, 4 s, 8 s; at most 15.75 s of waiting; 20 s for all attempts and delays together."
    );
    let charge = config.resolve("payments.charge", "", &Policy::new());
    assert_eq!((charge.label, charge.policy.attempts()), ("my_own", None));
    assert!(charge.policy.is_budgeted());
    assert_eq!(config.default(), Some("storage"));
    assert!(!config.is_enabled());
}

#[test]
fn faults_name_the_variable() {
    let faults = over(&[
        ("REATTEMPT_POLICIES__STORAGE__BASE", "250"),
        ("REATTEMPT_POLICY__STORAGE__MAX", "7"),
        ("REATTEMPT_ENABLE", "true"),
        ("REATTEMPT_OPERATIONS__A__POLICY", "storge"),
    ])
    .unwrap_err();
    let mut lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "REATTEMPT_ENABLE: enable: unknown key `enable`; did you mean `enabled`? [R15]",
            "REATTEMPT_OPERATIONS__A__POLICY: operations.a.policy: there is no policy `storge`; did you mean `storage`? [X15]",
            "REATTEMPT_POLICIES__STORAGE__BASE: policies.storage.base: a bare number is not a duration; write `\"250ms\"` or `\"250s\"` [R17]",
            "REATTEMPT_POLICY__STORAGE__MAX: policy: unknown key `policy`; it is called `policies` here [R15]",
        ]
    );
}

/// Where the rules are explained.
const INDEX: &str = "https://reattempt.github.io/reattempt/errors.html";

#[test]
fn a_variable_without_levels_gets_a_message_with_them() {
    for (name, fix) in [
        ("POLICIES_STORAGE_MAX", "POLICIES__STORAGE__MAX"),
        ("POLICIES__STORAGE_MAX", "POLICIES__STORAGE__MAX"),
        ("POLICIES_STORAGE__MAX", "POLICIES__STORAGE__MAX"),
        ("POLICIES_MY_OWN_FAST_FIRST", "POLICIES__MY_OWN__FAST_FIRST"),
        ("POLICIES_STORAGE", "POLICIES__NAME__KEY"),
        ("POLICIES_STORAGE_POLICY", "POLICIES__NAME__KEY"),
        ("OPERATIONS_A.B_POLICY", "OPERATIONS__A.B__POLICY"),
        ("OPERATIONS_A_ENABLED", "OPERATIONS__A__ENABLED"),
        ("MAX", "POLICIES__STANDARD__MAX"),
        ("FAST_FIRST", "POLICIES__STANDARD__FAST_FIRST"),
    ] {
        let name = format!("REATTEMPT_{name}");
        let faults = over(&[(&name, "7")]).expect_err(&name);
        let key = name.trim_start_matches("REATTEMPT_").to_lowercase();
        assert_eq!(
            faults.to_string(),
            format!(
                "{name}: {key}: levels are separated by `__`; write `REATTEMPT_{fix}` [R15] ({INDEX}#r15)"
            )
        );
    }
    // With what else is wrong.
    let faults = over(&[
        ("REATTEMPT_MAX", "7"),
        ("REATTEMPT_POLICIES__STORAGE__MAX", "0"),
    ]);
    assert_eq!(faults.unwrap_err().iter().count(), 2);
    // Those of others, and names that end like a key.
    let config = over(&[
        ("REATTEMPT_MAXIMUM", "7"),
        ("REATTEMPT_POLICIESX", "7"),
        ("REATTEMPT_SERVERS_MAX", "7"),
        ("REATTEMPT_POLICIES__MY_BASE", "{ max = 7 }"),
        ("REATTEMPT_POLICIES__MY_CAP__MAX", "7"),
    ])
    .unwrap();
    for name in ["my_base", "my_cap"] {
        assert_eq!(config.policy(name).unwrap().attempts(), Some(7));
    }
}

#[test]
fn a_name_with_dots_in_a_variable() {
    for (variable, fix) in [
        ("STORAGE__SAVE__MAX", "STORAGE.SAVE__MAX"),
        ("SHOP__PAYMENTS__CHARGE__MAX", "SHOP.PAYMENTS.CHARGE__MAX"),
        ("A__B__BUDGET__TOKENS", "A.B__BUDGET__TOKENS"),
    ] {
        let variable = format!("REATTEMPT_OPERATIONS__{variable}");
        let faults = over(&[(&variable, "2")]).expect_err(&variable);
        let said = faults.to_string();
        let fix = format!("write `REATTEMPT_OPERATIONS__{fix}` [R15] ({INDEX}#r15)");
        assert!(
            said.starts_with(&variable) && said.ends_with(&fix),
            "{said}"
        );
    }
    // Of several, the one that the error names.
    let faults = over(&[
        ("REATTEMPT_OPERATIONS__A__B__MAX", "2"),
        ("REATTEMPT_OPERATIONS__A__B__BASE", "2s"),
    ]);
    let faults = faults.unwrap_err();
    let fault = faults.iter().next().unwrap();
    let fix = fault.source().replace("A__B", "A.B");
    assert!(fault.message().ends_with(&format!("`{fix}`")), "{fault}");
    // The table of a file stays one.
    let said = Config::from_toml("[operations.a.b]\nmax = 2\n").unwrap_err();
    assert!(said.to_string().contains("write `[operations.\"a.b\"]`"));
}

/// A rule about several values blames one of them, wherever it comes from.
#[test]
fn a_rule_across_sources() {
    let faults = over(&[("REATTEMPT_POLICIES__STORAGE__CAP", "100ms")]).unwrap_err();
    assert!(
        faults
            .to_string()
            .starts_with("retry.toml:3: policies.storage.base: `base` of 250ms is above `cap`"),
        "{faults}"
    );
}

#[test]
fn a_variable_in_place_of_a_table() {
    for (variable, value, path, fix) in [
        ("POLICIES", "5", "policies", "POLICIES__STANDARD__MAX=3"),
        ("POLICIES__A", "max=7", "policies.a", "POLICIES__A__MAX=7"),
        (
            "POLICIES__A",
            "standard",
            "policies.a",
            "POLICIES__A__MAX=3",
        ),
        (
            "OPERATIONS__X",
            "a",
            "operations.x",
            "OPERATIONS__X__POLICY=a",
        ),
        (
            "OPERATIONS__X",
            "base = 1s",
            "operations.x",
            "OPERATIONS__X__BASE=1s",
        ),
    ] {
        let variable = format!("REATTEMPT_{variable}");
        let faults = over(&[(&variable, value)]).unwrap_err();
        assert_eq!(
            faults.to_string(),
            format!(
                "{variable}: {path}: expected a table, and a variable sets one key of it; write `REATTEMPT_{fix}` [type] ({INDEX}#type)"
            )
        );
    }
    // What is no single value of TOML is a text.
    let faults = over(&[("REATTEMPT_POLICIES__STORAGE__MAX", "7\nbase = 5")]).unwrap_err();
    assert_eq!(faults.iter().next().unwrap().rule().as_str(), "R1");
}

#[test]
fn any_provider() {
    let figment = Figment::from(Serialized::default("policies.storage.max", 5))
        .merge(Toml::string("[policies.storage]\nbase = \"1s\"\n"))
        .merge(Serialized::default("operations.charge.enabled", false));
    let config = Config::from_figment(&figment).unwrap();
    assert_eq!(config.policy("storage").unwrap().attempts(), Some(5));
    assert!(!config.resolve("charge", "", &Policy::new()).enabled);

    let figment = figment.merge(Serialized::default("policies.storage.max", 0));
    let faults = Config::from_figment(&figment).unwrap_err();
    let fault = faults.iter().next().unwrap();
    assert_eq!(
        (fault.key(), fault.rule().as_str(), fault.line()),
        ("policies.storage.max", "R1", None)
    );
    assert!(!fault.source().is_empty());
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("reattempt-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("retry.toml");
    let name = path.display().to_string();

    let fault = |path: &std::path::Path| Config::from_file(path).unwrap_err().to_string();
    let missing = fault(&path);
    assert!(
        missing.starts_with(&format!("{name}: cannot read the file")),
        "{missing}"
    );
    let end = format!("check the path and its permissions [file] ({INDEX}#file)");
    assert!(missing.ends_with(&end), "{missing}");

    std::fs::write(&path, FILE).unwrap();
    assert_eq!(
        Config::from_file(&path)
            .unwrap()
            .policy("storage")
            .unwrap()
            .attempts(),
        Some(5)
    );

    std::fs::write(&path, b"[policies.a]\nmax = \"\xff\"\n").unwrap();
    let bytes = fault(&path);
    assert!(
        bytes.starts_with(&format!("{name}:2: ")) && bytes.contains("UTF-8"),
        "{bytes}"
    );

    // A figment names the file by itself; the line is found in it all the same.
    std::fs::write(&path, "[policies.a]\n\nmax = 0\n").unwrap();
    let figment = Figment::from(Toml::file_exact(&path));
    let faults = Config::from_figment(&figment).unwrap_err().to_string();
    assert!(
        faults.starts_with(&format!("{name}:3: policies.a.max: ")),
        "{faults}"
    );
    std::fs::write(&path, "[policies.a]\nmax = \n").unwrap();
    let figment = Figment::from(Toml::file_exact(&path));
    let faults = Config::from_figment(&figment).unwrap_err().to_string();
    assert!(
        faults.starts_with(&format!("{name}:2: not TOML")),
        "{faults}"
    );

    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn cut_off() {
    let whole = "[policies.a]\nmax = 5\n";
    let marked = "[policies.a]\nmax = 5\n# end\n";
    for (text, before, is_cut) in [
        (whole, None, false),
        (whole, Some(whole), false),
        (whole, Some(marked), true),
        (marked, Some(marked), false),
        (marked, Some(whole), false),
        ("[policies.a]\nmax = 5\n# end\n\n", Some(marked), false),
        ("[policies.a]\nmax = 5", Some(whole), true),
        ("[policies.a]\nmax = 5", None, true),
        ("", Some(whole), true),
        ("", None, true),
    ] {
        let fault = Config::is_cut_off(text, before);
        assert_eq!(fault.is_some(), is_cut, "{text:?}");
        if let Some(fault) = fault {
            let fault = fault.of_source("retry.toml").to_string();
            assert!(fault.starts_with("retry.toml:"), "{fault}");
            assert!(
                fault.contains("; write to another file and rename it"),
                "{fault}"
            );
            assert!(fault.ends_with("[cut off]"), "{fault}");
        }
    }
}
