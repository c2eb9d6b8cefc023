//! The page of a rule: `cargo retry explain X4`.

use retry_runtime::rules::RuleId;

/// `docs/errors.md`, by a link, so that it is packed.
const PAGES: &str = include_str!("../../errors.md");

/// The page of a rule if `name` is one; why there is none if it only looks like one.
pub(super) fn asked(name: &str) -> Option<Result<String, String>> {
    let name = name.trim();
    let mut entries = RuleId::ALL.iter().map(|rule| rule.as_str());
    if let Some(id) = entries.find(|id| id.eq_ignore_ascii_case(name)) {
        return Some(Ok(page(id)));
    }
    let (letter, digits) = name.split_at_checked(1)?;
    let is_id = letter.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let all = || {
        RuleId::ALL
            .iter()
            .map(|rule| rule.as_str())
            .collect::<Vec<_>>()
    };
    is_id.then(|| {
        Err(format!(
            "unknown rule `{name}`; the rules are {}",
            all().join(", ")
        ))
    })
}

/// What a rule is about: the words in bold below its heading.
pub(crate) fn title(id: &str) -> Option<String> {
    let is_own = |line: &&str| line.strip_prefix("## ") == Some(id);
    let below = PAGES.lines().skip_while(|line| !is_own(line)).skip(1);
    let mut words = below.skip_while(|line| line.is_empty());
    let title = words.next()?.strip_prefix("**")?;
    Some(title.strip_suffix("**")?.to_owned())
}

/// From the heading to the next one; code is indented, without the lines that documentation hides.
fn page(id: &str) -> String {
    let is_own = |line: &&str| line.strip_prefix("## ") == Some(id);
    let mut lines = PAGES.lines().skip_while(|line| !is_own(line));
    let mut page = lines.next().map(|_| format!("{id}\n")).unwrap_or_default();
    let mut is_code = false;
    for line in lines {
        // In a list it is indented.
        let code = line.trim_start();
        if code.starts_with("```") {
            is_code = !is_code;
        } else if is_code && !(code.starts_with("# ") || code == "#") {
            page.extend(["    ", line, "\n"]);
        } else if !is_code {
            if line.starts_with("## ") {
                break;
            }
            page.extend([&*line.replace("**", ""), "\n"]);
        }
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_page_of_its_own() {
        for rule in RuleId::ALL {
            let page = page(rule.as_str());
            assert!(title(rule.as_str()).is_some(), "{rule}");
            assert!(page.lines().count() > 3, "{rule}: {page}");
            assert!(page.starts_with(&format!("{rule}\n\n")), "{page}");
            assert!(!page.contains("```") && !page.contains("\n## "), "{page}");
        }
        assert!(page("X4").contains("    #[retry("));
        for id in ["X4", "S6"] {
            assert!(!page(id).contains("use reattempt::retry"), "{id}");
        }
    }

    #[test]
    fn what_is_no_rule_is_no_page() {
        assert_eq!(asked(" x4 "), Some(Ok(page("X4"))));
        assert!(asked("X99").is_some_and(|page| page.is_err_and(|words| words.contains("R1, R2"))));
        for other in ["max = 3", "X", "x4y", "", "é4", "4", "storage"] {
            assert_eq!(asked(other), None, "{other}");
        }
    }
}
