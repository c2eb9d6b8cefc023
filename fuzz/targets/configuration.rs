//! Files and environment variables: either every fault has its place, or what was read keeps the rules. The input is the
//! text of a file; what follows a line with a NUL character are variables, one a line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reattempt_config::{Config, Diagnostic};
use retry_runtime::Policy;

fuzz_target!(|input: &[u8]| {
    let Ok(input) = core::str::from_utf8(input) else {
        return;
    };
    let (text, variables) = input.split_once('\0').unwrap_or((input, ""));
    let variables: Vec<_> = variables.lines().filter_map(variable).collect();
    match Config::from_text("retry.toml", text, variables.clone()) {
        Ok(config) => accepted(&config, text, &variables),
        Err(faults) => {
            assert!(faults.iter().next().is_some());
            for fault in faults.iter() {
                placed(fault, text, &variables);
            }
            assert!(!faults.to_string().is_empty());
        }
    }
    if let Some(fault) = Config::is_cut_off(text, Some("max = 1\n# end\n")) {
        assert_eq!(fault.rule().as_str(), "cut off");
    }
});

/// With the prefix or without.
fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = match name.strip_prefix("REATTEMPT_") {
        Some(_) => name.to_owned(),
        None => format!("REATTEMPT_{name}"),
    };
    Some((name, value.to_owned()))
}

/// An error names a rule, a fix, and a place that exists.
fn placed(fault: &Diagnostic, text: &str, variables: &[(String, String)]) {
    assert!(!fault.rule().as_str().is_empty() && !fault.message().is_empty());
    let of_file = fault.source() == "retry.toml";
    let of_variable = variables.iter().any(|(name, _)| name == fault.source());
    assert!(of_file || of_variable, "{fault}");
    let Some(line) = fault.line() else {
        assert_eq!(fault.column(), None);
        return;
    };
    assert!(of_file, "{fault}");
    // The end of the text is a place, too.
    let lines: Vec<_> = text.split('\n').collect();
    assert!(
        (1..=lines.len()).contains(&line),
        "{fault} of {} lines",
        lines.len()
    );
    let column = fault.column().expect("a line has a column");
    let width = lines[line - 1].chars().count();
    assert!(
        (1..=width + 1).contains(&column),
        "{fault}, column {column} of {width}"
    );
}

/// No rule is broken, whoever runs under it, and read again it is the same.
fn accepted(config: &Config, text: &str, variables: &[(String, String)]) {
    for (name, policy) in config.policies() {
        sound(name, &policy);
        assert!(config.policy(name).is_some());
        let resolved = config.resolve("", name, &Policy::new());
        assert_eq!(resolved.label, name);
        sound(name, &resolved.policy);
    }
    if let Some(default) = config.default() {
        assert!(config.policy(default).is_some(), "{default}");
    }
    for operation in config.operations() {
        let resolved = config.resolve(operation, "", &Policy::new());
        // Over a policy of the file; over one of the code nobody knows yet.
        if !resolved.label.is_empty() {
            sound(operation, &resolved.policy);
        }
    }
    let again = Config::from_text("retry.toml", text, variables.to_vec());
    let again = again.expect("accepted once, accepted again");
    assert_eq!(format!("{config:?}"), format!("{again:?}"));
}

fn sound(name: &str, policy: &Policy) {
    if let Some(violation) = policy.violations().next() {
        panic!("`{name}` breaks {}: {violation}", violation.rule().as_str());
    }
}
