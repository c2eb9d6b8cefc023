//! The name of an operation: `module::function`, or `module::Type::method`.
//!
//! An attribute on a method does not see the type. What knows it is the compiler, in the name of a type inside the
//! method, which no instance of a generic method changes. It is read when a name is first needed: a success needs none.

use core::fmt;
#[cfg(feature = "std")]
use std::sync::OnceLock;

/// Returns FNV-1a of a name, from `seed` on. It is the same in every process.
///
/// # Source
///
/// G. Fowler, L. C. Noll, K.-P. Vo: "The FNV Non-Cryptographic Hash Algorithm", draft-eastlake-fnv.
pub fn hash(bytes: &[u8], seed: u64) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Returns such a hash in 32 bits, of which both halves count.
#[expect(clippy::cast_possible_truncation, reason = "it is half as long")]
pub const fn short(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

/// What is retried: a place in the code, a name, or an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationId(u64);

impl OperationId {
    /// Returns that of an operation of this process alone, by a number of 56 bits.
    #[doc(hidden)]
    pub const fn new(number: u64) -> Self {
        Self(number & !Self::NAMED_BY)
    }

    /// Returns its number.
    #[doc(hidden)]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The bits that say who has named it: this process by all others, or another process.
    const NAMED_BY: u64 = 0xFF << 56;
    const SHARED: u64 = 0xFE << 56;
    const REMOTE: u64 = 0xFF << 56;

    /// Returns that of an operation of this process, by the name under which other processes know it.
    #[doc(hidden)]
    pub const fn shared(name: u32) -> Self {
        Self(Self::SHARED | name as u64)
    }

    /// Returns that of an operation of another process, by eight bits of the edge that it lies behind, and a number for the
    /// path from there.
    #[doc(hidden)]
    pub const fn remote(edge: u8, path: u64) -> Self {
        Self(Self::REMOTE | (edge as u64) << 48 | path >> 16)
    }

    /// Returns these bits of the edge, if this is such an operation.
    #[doc(hidden)]
    pub const fn edge(self) -> Option<u8> {
        let [by, edge, ..] = self.0.to_be_bytes();
        if by == 0xFF { Some(edge) } else { None }
    }

    /// Returns the name under which other processes know it, if this is such a name.
    #[doc(hidden)]
    pub const fn shared_name(self) -> Option<u32> {
        #[expect(clippy::cast_possible_truncation, reason = "it was made of one")]
        let name = self.0 as u32;
        if self.0 & Self::NAMED_BY == Self::SHARED {
            Some(name)
        } else {
            None
        }
    }

    /// Returns whether other processes can know it.
    #[doc(hidden)]
    pub const fn is_known_elsewhere(self) -> bool {
        self.0 & Self::NAMED_BY >= Self::SHARED
    }
}

/// The name of an operation.
#[derive(Clone, Copy)]
pub enum Name {
    /// A given one.
    Given(&'static str),
    /// That of a function or a method.
    Code(&'static CodeName),
}

impl Name {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Given(name) => name,
            Self::Code(name) => name.as_str(),
        }
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The name of a function or a method. Without the feature `std` it is that of a function.
#[derive(Debug)]
pub struct CodeName {
    function: &'static str,
    #[cfg_attr(
        not(feature = "std"),
        expect(dead_code, reason = "a name that is made needs memory")
    )]
    here: fn() -> &'static str,
    #[cfg(feature = "std")]
    full: OnceLock<&'static str>,
}

impl CodeName {
    /// Returns the name of `function`, which is `module::function`; `here` is the name of a type in it.
    pub const fn new(function: &'static str, here: fn() -> &'static str) -> Self {
        Self {
            function,
            here,
            #[cfg(feature = "std")]
            full: OnceLock::new(),
        }
    }

    #[cfg(not(feature = "std"))]
    fn as_str(&self) -> &'static str {
        self.function
    }

    /// The first call makes the name, which stays.
    #[cfg(feature = "std")]
    fn as_str(&self) -> &'static str {
        self.full.get_or_init(|| {
            let Some((module, name)) = self.function.rsplit_once("::") else {
                return self.function;
            };
            let module = module.replace("r#", "");
            match owner(&module, name, (self.here)()) {
                Some(owner) => format!("{module}::{owner}::{name}").leak(),
                None => format!("{module}::{name}").leak(),
            }
        })
    }
}

/// The type or the trait of which `name` is a method, by the path of a type inside it.
#[cfg(any(feature = "std", test))]
fn owner<'p>(module: &str, name: &str, here: &'p str) -> Option<&'p str> {
    let (mut around, mut last) = parted(here)?;
    while last != name {
        (around, last) = parted(around)?;
    }
    let segment = parted(around).map_or(around, |(_, segment)| segment);
    if segment.starts_with('<') {
        of_impl(segment)
    } else if segment.starts_with(char::is_uppercase) && around != module {
        plain(segment)
    } else {
        None
    }
}

/// The type of `<Type as Trait>`, `<impl Type>` or `<impl Trait for Type>`, or the trait where the type has no name.
#[cfg(any(feature = "std", test))]
fn of_impl(segment: &str) -> Option<&str> {
    let inside = segment.strip_prefix('<')?.strip_suffix('>')?;
    let (ty, of_trait) = match inside.strip_prefix("impl ") {
        Some(inside) => match split(inside, " for ") {
            Some((of_trait, ty)) => (ty, Some(of_trait)),
            None => (inside, None),
        },
        None => match split(inside, " as ") {
            Some((ty, of_trait)) => (ty, Some(of_trait)),
            None => (inside, None),
        },
    };
    plain(ty).or_else(|| plain(of_trait?))
}

/// The last name of a path, without references and generics.
#[cfg(any(feature = "std", test))]
fn plain(ty: &str) -> Option<&str> {
    let mut ty = ty;
    while let Some(rest) = ["&", "mut ", "dyn "]
        .iter()
        .find_map(|word| ty.strip_prefix(word))
    {
        ty = rest;
    }
    let path = ty.split(['<', '(', ' ']).next()?;
    let name = path.rsplit("::").next()?;
    let is_name =
        name != "_" && name.starts_with(|first: char| first == '_' || first.is_alphabetic());
    is_name.then_some(name)
}

/// A path without its last segment, and that.
#[cfg(any(feature = "std", test))]
fn parted(path: &str) -> Option<(&str, &str)> {
    let at = outside(path, "::").last()?;
    Some((path.get(..at)?, path.get(at.checked_add(2)?..)?))
}

#[cfg(any(feature = "std", test))]
fn split<'t>(text: &'t str, by: &str) -> Option<(&'t str, &'t str)> {
    let at = outside(text, by).next()?;
    Some((text.get(..at)?, text.get(at.checked_add(by.len())?..)?))
}

/// Where `word` stands outside of brackets.
#[cfg(any(feature = "std", test))]
fn outside(text: &str, word: &str) -> impl Iterator<Item = usize> {
    let (mut depth, mut before) = (0_usize, ' ');
    text.char_indices().filter_map(move |(at, letter)| {
        match letter {
            '<' | '(' | '[' | '{' => depth = depth.saturating_add(1),
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = letter;
        let is_there = depth == 0 && text.get(at..).is_some_and(|rest| rest.starts_with(word));
        is_there.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the draft.
    #[test]
    fn a_hash_is_that_of_the_draft() {
        assert_eq!(hash(b"", 0), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a", 0), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar", 0), 0x8594_4171_f739_67e8);
        assert_eq!(hash(b"", 5), 0xcbf2_9ce4_8422_2320);
        assert_eq!(short(0xFFFF_0000_F0F0_0FF0), 0x0F0F_0FF0);
    }

    #[test]
    fn an_operation_says_who_has_named_it() {
        for (operation, edge, name) in [
            (OperationId::new(u64::MAX), None, None),
            (OperationId::shared(u32::MAX), None, Some(u32::MAX)),
            (OperationId::shared(0), None, Some(0)),
            (OperationId::remote(0xA5, u64::MAX), Some(0xA5), None),
            (OperationId::remote(0, 0), Some(0), None),
        ] {
            assert_eq!((operation.edge(), operation.shared_name()), (edge, name));
            assert_eq!(
                operation.is_known_elsewhere(),
                edge.is_some() || name.is_some()
            );
        }
        assert_eq!(OperationId::new(u64::MAX).number(), u64::MAX >> 8);
        let paths = [1 << 16, u64::MAX].map(|path| OperationId::remote(7, path).number() << 16);
        assert_eq!(paths, [1 << 16, u64::MAX << 16]);
    }

    /// As the compiler writes them.
    #[test]
    fn the_owner_of_a_method() {
        for (module, here, expected) in [
            ("n::a", "n::a::get::Here", None),
            ("n::a", "n::a::C<_>::get::Here", Some("C")),
            (
                "n::a",
                "n::a::C<_>::get::{{closure}}::{{closure}}::Here",
                Some("C"),
            ),
            ("n::a", "n::a::C::get::__SITE::Here", Some("C")),
            (
                "n::a",
                "<n::a::C<alloc::vec::Vec<_>> as n::a::Tr>::get::Here",
                Some("C"),
            ),
            (
                "n::a",
                "<n::a::D<'_> as n::b::Tr<n::X>>::get::Here",
                Some("D"),
            ),
            ("n", "n::<impl n::a::D<'_>>::get::Here", Some("D")),
            ("n", "n::<impl n::a::Tr for u8>::get::Here", Some("u8")),
            (
                "n",
                "n::<impl n::a::Tr for n::a::C<[u8; N]>>::get::Here",
                Some("C"),
            ),
            ("n::a", "n::a::Tr::get::Here", Some("Tr")),
            ("n::a", "<[u8] as n::a::Tr>::get::Here", Some("Tr")),
            ("n::a", "<(u8, n::X) as n::a::Tr>::get::Here", Some("Tr")),
            ("n::a", "<&_ as n::a::Tr>::get::Here", Some("Tr")),
            ("n::a", "<&mut n::a::C as n::a::Tr>::get::Here", Some("C")),
            ("n::a", "<_ as n::a::Tr<_>>::get::Here", Some("Tr")),
            ("n::a", "<dyn n::a::Tr>::get::Here", Some("Tr")),
            (
                "n::a",
                "<alloc::boxed::Box<dyn core::ops::function::Fn(u8) -> u8> as n::a::Tr>::get::Here",
                Some("Box"),
            ),
            ("n::a::try", "n::a::try::R::get::Here", Some("R")),
            ("n::a::try", "n::a::try::get::Here", None),
            ("n::a", "n::a::free::L::get::Here", Some("L")),
            ("n::a", "n::a::free::get::Here", None),
            ("n::a", "n::a::C<_>::make::get::Here", None),
            ("n::Upper", "n::Upper::get::Here", None),
            ("n", "n::get::get::Here", None),
            ("n", "something else", None),
        ] {
            assert_eq!(owner(module, "get", here), expected, "{here}");
        }
    }

    #[test]
    fn a_name_is_as_large_as_a_text() {
        assert_eq!(size_of::<Name>(), size_of::<&str>());
    }

    #[cfg(feature = "std")]
    #[test]
    fn a_name_is_made_once() {
        static NAME: CodeName = CodeName::new("n::get", || "<n::C<_> as n::Tr>::get::Here");
        let name = Name::Code(&NAME).as_str();
        assert_eq!(name, "n::C::get");
        assert!(core::ptr::eq(name, Name::Code(&NAME).as_str()));
        let of = |function| CodeName::new(function, || "something else").as_str();
        assert_eq!((of("r#mod::a"), of("get")), ("mod::a", "get"));
        assert_eq!(Name::Given("pay").as_str(), "pay");
    }
}
