use quote::ToTokens;
use syn::{ImplItemFn, ReturnType, parse_str};

use super::*;

/// What says that the answer of a method borrows uniquely.
fn proof(method: &str) -> String {
    let method: ImplItemFn = parse_str(method).unwrap_or_else(|error| panic!("{error}: {method}"));
    let ReturnType::Type(_, answer) = &method.sig.output else {
        return String::new();
    };
    let statements = method.block.stmts.iter();
    let body = statements.map(ToTokens::to_token_stream).collect();
    match find(&method.sig, answer, &body, &[]).map(|it| it.proof) {
        None => "none".to_owned(),
        Some(Proof::Answer(asked, _)) => asked.to_string().replace(' ', ""),
        Some(Proof::Held(places)) => {
            let places: Vec<_> = places.iter().map(ToString::to_string).collect();
            places.join(", ").replace(" . ", ".")
        }
        Some(proof) => format!("{proof:?}"),
    }
}

#[test]
fn what_the_compiler_is_asked_for() {
    for (method, expected) in [
        // The answer, if it stands in front of the body as well as in it.
        (
            "fn f(&mut self) -> Result<&str, E> { self.inner.next(1) }",
            "self.inner.next(1)",
        ),
        (
            "fn f(&mut self) -> Result<&str, E> { let n = 1; self.inner.next(n) }",
            "Body",
        ),
        // Another part of `self` changes, which says nothing of this one.
        (
            "fn f(&mut self) -> Result<&str, E> { self.count += 1; let n = self.count; self.inner.next(n) }",
            "none",
        ),
        // So does another parameter.
        (
            "fn f(&mut self, log: &mut Log) -> Result<&str, E> { let n = 1; self.part(log, n) }",
            "none",
        ),
    ] {
        assert_eq!(proof(method), expected, "{method}");
    }
}

/// A type of a trait may hold a lifetime of the `impl` block, and none of the method.
#[test]
fn a_type_of_a_trait_holds_what_its_block_names() {
    for (method, expected) in [
        (
            "fn f(&'a mut self) -> Result<Self::Reader, E> { Ok(Reader(&mut self.inner)) }",
            "Certain",
        ),
        (
            "fn f<'a>(&'a mut self) -> Result<Self::Reader, E> { Ok(Reader(&mut self.inner)) }",
            "none",
        ),
        (
            "fn f(&mut self) -> Result<Self::Reader, E> { Ok(Reader::of(&mut self.inner)) }",
            "none",
        ),
    ] {
        assert_eq!(proof(method), expected, "{method}");
    }
}

/// Nothing is known of an `impl Trait` but what it borrows: what it is made of is borrowed as long.
#[test]
fn an_opaque_answer_borrows_what_it_is_made_of() {
    let certain = "fn f(&mut self) -> impl Iterator<Item = u8> + '_ { parts(&mut self.bytes) }";
    assert_eq!(proof(certain), "Certain");
    let named = "fn f(&mut self) -> Parts<'_> { parts(&mut self.bytes) }";
    assert_eq!(proof(named), "parts(&mutself.bytes)");
}

/// An answer that borrows by `&` is asked about behind what may need the same by `&mut`.
#[test]
fn a_shared_borrow_is_asked_about_behind_changes() {
    for (body, expected) in [
        (
            "self.fill()?; Ok(&self.page)",
            "{self.fill()?;Ok(&self.page)}",
        ),
        ("let page = self.fill()?; Ok(page)", "Ok(self.fill()?)"),
        (
            "self.page.fill()?; let page = &self.page; Ok(page)",
            "{self.page.fill()?;Ok((&self.page))}",
        ),
        (
            "self.page.clear(); Ok(head(self.page.as_ref().unwrap()))",
            "{self.page.clear();Ok(head(self.page.as_ref().unwrap()))}",
        ),
        (
            "let page = load()?; self.page = page; Ok(&self.page)",
            "{self.page=::core::option::Option::unwrap(::core::option::Option::None);Ok(&self.page)}",
        ),
        (
            "match self.load()? { Some(page) => { self.page = page; Ok(&self.page) } None => Err(E) }",
            "{self.page=::core::option::Option::unwrap(::core::option::Option::None);Ok(&self.page)}",
        ),
        // A field that is a reference is no part of `self`.
        (
            "let n = self.read()?; Ok((self.name, n, self.page))",
            "self.name, self.page",
        ),
        // Another place.
        (
            "let n = 3; out.count = self.read(n); Ok(&self.page)",
            "Body",
        ),
        // Of what only the body knows.
        ("let n = 1; self.fill(n)?; Ok(&self.page)", "Body"),
        // The answer alone, where another part changes.
        ("self.count += 1; Ok(&self.page)", "Ok(&self.page)"),
    ] {
        let method = format!("fn f(&mut self) -> Result<&str, E> {{ {body} }}");
        assert_eq!(proof(&method), expected, "{method}");
    }
}
