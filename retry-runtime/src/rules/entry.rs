//! The entries of the error index, `docs/errors.md`: the rules, and what is refused without one. Every message names
//! its entry, so that whoever reads it finds why.

use core::fmt;

use super::Violation;
use crate::text::Letters;

macro_rules! index {
    () => {
        "https://docs.rs/reattempt/latest/reattempt/errors/"
    };
}

/// Where the index is.
#[cfg(feature = "config")]
pub(crate) const INDEX: &str = index!();

/// A message of 320 bytes, and a line.
const REPORT: usize = 400;

macro_rules! entries {
    ($($entry:ident, $id:literal, $anchor:literal;)+) => {
        /// An entry of the [error index](https://docs.rs/reattempt/latest/reattempt/errors/), which says why it is
        /// refused and what to write in its place.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "the index documents each")]
        pub enum Entry { $($entry),+ }

        impl Entry {
            /// Every entry, in the order of the index.
            pub const ALL: &'static [Self] = &[$(Self::$entry),+];

            /// The heading, such as `X4`; of what is no rule a word, such as `syntax`.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$entry => $id),+ }
            }

            /// Where it is.
            pub const fn address(self) -> &'static str {
                match self { $(Self::$entry => concat!(index!(), "#", $anchor)),+ }
            }

            /// The last line of a message: `rule X4: https://docs.rs/...`.
            pub const fn line(self) -> &'static str {
                match self { $(Self::$entry => concat!("rule ", $id, ": ", index!(), "#", $anchor)),+ }
            }
        }
    };
}

entries! {
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

impl Entry {
    /// The message and below it the line: where a constant is evaluated, an error of the compiler.
    #[cold]
    #[track_caller]
    #[expect(
        clippy::panic,
        reason = "documented where a value is told that can be refused"
    )]
    pub(crate) const fn refuse(self, message: &str) -> ! {
        let report = Letters::<REPORT>::new().push(message);
        panic!("{}", report.push("\n").push(self.line()).as_str())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Violation {
    /// As [`Entry::refuse`].
    #[track_caller]
    pub(crate) const fn refuse(&self) -> ! {
        self.rule.entry().refuse(self.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As rustdoc and mdBook make an anchor of a heading.
    #[test]
    fn an_anchor_is_its_heading() {
        for entry in Entry::ALL {
            let anchor = entry.id().to_lowercase().replace(' ', "-");
            assert_eq!(entry.address(), format!("{INDEX_IN_TEST}#{anchor}"));
            assert_eq!(entry.line(), format!("rule {entry}: {}", entry.address()));
        }
    }

    const INDEX_IN_TEST: &str = index!();

    #[test]
    fn a_report_has_room_for_the_longest_message() {
        let longest = Entry::ALL.iter().map(|entry| entry.line().len()).max();
        assert!(crate::text::CAPACITY + 1 + longest.unwrap_or(REPORT) <= REPORT);
    }
}
