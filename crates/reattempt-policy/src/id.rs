//! The names of the rules. Every message ends with one, and the error index, `docs/errors.md`, has a section for each.

use core::fmt;

macro_rules! index {
    () => {
        "https://reattempt.github.io/reattempt/errors.html"
    };
}

/// Where the index is.
pub const INDEX: &str = index!();

macro_rules! rule_ids {
    ($($rule:ident, $id:literal, $anchor:literal;)+) => {
        /// A section of the [error index](https://reattempt.github.io/reattempt/errors.html), which says why a value or a
        /// shape is refused and what to write in its place.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "the index documents each")]
        pub enum RuleId { $($rule),+ }

        impl RuleId {
            /// All of them, in the order of the index.
            pub const ALL: &'static [Self] = &[$(Self::$rule),+];

            /// Returns the heading, such as `X4`; a word such as `syntax` for what has no number.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$rule => $id),+ }
            }

            /// Returns the address of its section.
            pub const fn url(self) -> &'static str {
                match self { $(Self::$rule => concat!(index!(), "#", $anchor)),+ }
            }

            /// Returns the last line of a message: `rule X4: https://docs.rs/...`.
            pub const fn footer(self) -> &'static str {
                match self { $(Self::$rule => concat!("rule ", $id, ": ", index!(), "#", $anchor)),+ }
            }
        }
    };
}

rule_ids! {
    R1, "R1", "r1";
    R2, "R2", "r2";
    R3, "R3", "r3";
    R4, "R4", "r4";
    R5, "R5", "r5";
    R6, "R6", "r6";
    R7, "R7", "r7";
    R8, "R8", "r8";
    R9, "R9", "r9";
    R10, "R10", "r10";
    R11, "R11", "r11";
    R12, "R12", "r12";
    R13, "R13", "r13";
    R14, "R14", "r14";
    R15, "R15", "r15";
    R16, "R16", "r16";
    R17, "R17", "r17";
    X1, "X1", "x1";
    X2, "X2", "x2";
    X3, "X3", "x3";
    X4, "X4", "x4";
    X5, "X5", "x5";
    X6, "X6", "x6";
    X7, "X7", "x7";
    X8, "X8", "x8";
    X9, "X9", "x9";
    X10, "X10", "x10";
    X11, "X11", "x11";
    X12, "X12", "x12";
    X13, "X13", "x13";
    X14, "X14", "x14";
    X15, "X15", "x15";
    X16, "X16", "x16";
    X17, "X17", "x17";
    X18, "X18", "x18";
    X19, "X19", "x19";
    S1, "S1", "s1";
    S2, "S2", "s2";
    S3, "S3", "s3";
    S4, "S4", "s4";
    S5, "S5", "s5";
    S6, "S6", "s6";
    S7, "S7", "s7";
    S8, "S8", "s8";
    S9, "S9", "s9";
    S10, "S10", "s10";
    S11, "S11", "s11";
    S12, "S12", "s12";
    D1, "D1", "d1";
    D2, "D2", "d2";
    D3, "D3", "d3";
    D4, "D4", "d4";
    D5, "D5", "d5";
    D6, "D6", "d6";
    D7, "D7", "d7";
    D8, "D8", "d8";
    D9, "D9", "d9";
    D10, "D10", "d10";
    D11, "D11", "d11";
    Syntax, "syntax", "syntax";
    Type, "type", "type";
    Word, "word", "word";
    File, "file", "file";
    CutOff, "cut off", "cut-off";
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As rustdoc and mdBook make an anchor of a heading.
    #[test]
    fn an_anchor_is_its_heading() {
        for rule in RuleId::ALL {
            let anchor = rule.as_str().to_lowercase().replace(' ', "-");
            assert_eq!(rule.url(), format!("{INDEX}#{anchor}"));
            assert_eq!(rule.footer(), format!("rule {rule}: {}", rule.url()));
        }
    }
}
