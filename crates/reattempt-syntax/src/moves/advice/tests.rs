use syn::Signature;

use super::super::{find, owned};
use super::*;

/// What is said of all parameters of a signature.
fn said(signature: &str, set_by: SetBy) -> String {
    let signature: Signature = syn::parse_str(signature).expect("a signature");
    let owned = owned(&signature, None);
    let names: Vec<_> = owned.iter().map(|it| it.name.to_string()).collect();
    let body = format!("ready()?; send({})", names.join(", "));
    let found = find(&body.parse().expect("tokens"), &owned);
    let moved: Vec<_> = found.certain.iter().collect();
    let said = message(&moved, &["id".to_owned()], set_by, false);
    let (_, advice) = said.split_once("; ").expect("a fix");
    advice.to_owned()
}

/// Which of several types have copies is known of all of them together alone.
#[test]
fn what_has_no_copies_is_left_out_of_a_list() {
    let signature = syn::parse_str("fn f(x: Url, y: Socket)").expect("a signature");
    let owned = owned(&signature, None);
    let found = find(&"x.open(); y.open()".parse().expect("tokens"), &owned);
    let moved: Vec<_> = found.unlikely.iter().collect();
    let said = message(&moved, &[], SetBy::Function, true);
    assert_eq!(
        said,
        "the body moves some of `x` and `y`, and the next attempt needs them; write `clone(x, y)` in the attribute without those that are not `Clone`, or borrow them"
    );
}

#[test]
fn what_makes_a_future_is_called_again() {
    for (ty, advice) in [
        (
            "BoxFuture<'_, u8>",
            "replace `BoxFuture<..>` by `impl AsyncFnMut() -> ..`, declare `mut x` and write `x()` in the body each time",
        ),
        (
            "Box<dyn FnOnce() -> BoxFuture<u8>>",
            "replace `Box<dyn FnOnce(..)>` by `Box<dyn FnMut(..)>`, declare `mut x` and write `&mut x` in the body",
        ),
    ] {
        let said = said(&format!("async fn f(x: {ty})"), SetBy::Function);
        assert!(said.starts_with(&format!("{advice},")), "{said}");
    }
}

#[test]
fn what_only_a_caller_can_make_anew() {
    let caller = "retry only what stands before the move with `retry_block!`, or retry in a caller that makes it anew, with `#[retry(never)]` here";
    for signature in [
        // Nothing awaits it here, or something runs for longer.
        "fn f(x: impl Future<Output = u8>)",
        "fn f(x: BoxFuture<'_, u8>)",
        "async fn f(x: impl Future<Output = u8> + Send + 'static)",
        "async fn f<F: Future>(x: F) -> Result<F::Output, Error>",
        // No reference has this trait, or outlives the function.
        "fn f(x: impl Read + Source)",
        "fn f<R: Read + 'static>(x: R)",
        // What reads or writes has no copies, whatever its trait is called, and the answer holds it.
        "fn f<R: Read + Seek>(x: R) -> Result<Zip<R>, Error>",
        "fn f(x: impl StorageFile)",
        "async fn f(x: impl AsyncStreamReader)",
        // A visitor is used once.
        "fn f<'de, V: Visitor<'de>>(x: V) -> Result<V::Value, Error>",
    ] {
        assert_eq!(said(signature, SetBy::Function), caller, "{signature}");
    }
}

/// What is said of the first parameter of a body.
fn said_in(body: &str, signature: &str) -> String {
    let signature: Signature = syn::parse_str(signature).expect("a signature");
    let found = find(&body.parse().expect("tokens"), &owned(&signature, None));
    let moved: Vec<_> = found.certain.iter().take(1).collect();
    let said = message(&moved, &[], SetBy::Function, false);
    let (_, advice) = said.split_once("; ").expect("a fix");
    advice.to_owned()
}

#[test]
fn what_reads_goes_on_where_a_reference_can_stand() {
    let caller = "retry in a caller that makes it anew, with `#[retry(never)]` here";
    let goes_on = |borrow: &str| {
        format!(
            "declare `mut x` and write `{borrow}` in the body, which goes on where the failed attempt stopped, or {caller}"
        )
    };
    for (body, ty, advice) in [
        ("copy(x)", "File", goes_on("&mut x")),
        ("Reader::new(x)", "TcpStream", goes_on("&mut x")),
        ("connect(name, x)", "TcpStream", caller.to_owned()),
        ("tls.connect(name, x)", "TcpStream", caller.to_owned()),
        ("connect(name, x)", "impl Read", goes_on("&mut x")),
        ("copy(x)", "impl Read + Send", goes_on("&mut x")),
        ("x.take(3)", "impl Read", goes_on("(&mut x)")),
        (
            "x.take(3)",
            "impl AsyncReadExt + AsyncRead + Unpin",
            goes_on("(&mut x)"),
        ),
        ("x.take(3)", "impl AsyncRead", caller.to_owned()),
        ("x.take(3)", "impl Read + Source", caller.to_owned()),
        (
            "x.take(3)",
            "impl io::Read + Send",
            goes_on("io::Read::take(&mut x, ..)"),
        ),
        (
            "x.take(3)",
            "impl Send + std::io::BufRead",
            goes_on("std::io::Read::take(&mut x, ..)"),
        ),
        (
            "x.lines()",
            "impl io::BufRead",
            goes_on("io::BufRead::lines(&mut x)"),
        ),
        // Another type.
        ("keep(Client { stream: x })", "TcpStream", caller.to_owned()),
        ("keep(Stream::Plain(x))", "TcpStream", caller.to_owned()),
        (
            "keep(Stream::from_socket(x))",
            "TcpStream",
            caller.to_owned(),
        ),
        ("drop(x)", "File", caller.to_owned()),
    ] {
        let signature = format!("fn f(x: {ty})");
        assert_eq!(said_in(body, &signature), advice, "{body} {ty}");
    }
}

#[test]
fn what_is_called_once_is_called_or_passed_on() {
    let replaced = "replace `impl FnOnce(..)` by `impl FnMut(..)`";
    for (body, advice) in [
        ("x()", " and declare `mut x`"),
        (
            "run(move || x())",
            ", declare `mut x` and write `let x = &mut x;` in front of what is `move`",
        ),
        ("run(x)", ", declare `mut x` and write `&mut x` in the body"),
    ] {
        let said = said_in(body, "fn f(x: impl FnOnce())");
        let caller = ", or retry in a caller that makes it anew, with `#[retry(never)]` here";
        assert_eq!(said, format!("{replaced}{advice}{caller}"), "{body}");
    }
}

#[test]
fn what_is_captured_is_borrowed_in_front_of_the_closure() {
    for (body, signature, advice) in [
        (
            "run(move || f(x))",
            "fn f(x: impl Fn())",
            "write `let x = &x;`",
        ),
        (
            "run(async move { read(x) })",
            "fn f(x: impl Read)",
            "declare `mut x` and write `let x = &mut x;`",
        ),
        (
            "run(async move { read(x) })",
            "fn f(mut x: impl Read)",
            "write `let x = &mut x;`",
        ),
    ] {
        let said = said_in(body, signature);
        let advice = format!("{advice} in front of what is `move`");
        assert!(said.starts_with(&advice), "{said}");
    }
}

#[test]
fn all_bounds_that_lack_are_named() {
    let said = said_in(
        "send(x)",
        "fn f<A: Send, B: Send, C: Clone>(x: Options<A, B, C>)",
    );
    assert!(
        said.ends_with("or add `A: Clone` and `B: Clone` and write `clone(x)` in the attribute"),
        "{said}"
    );
    let of_what_it_holds = said_in("send(x)", "fn f<A: Send>(x: Vec<A>)");
    let bound = "add `A: Clone` and write `clone(x)`";
    assert!(of_what_it_holds.starts_with(bound), "{of_what_it_holds}");
}

#[test]
fn what_a_bound_or_an_answer_hides_is_no_reference() {
    let block = "retry only what stands before the move with `retry_block!`";
    let caller = "retry in a caller that makes it anew, with `#[retry(never)]` here";
    let copy = "write `clone(id, x)` in the attribute";
    for (signature, advice) in [
        (
            "fn f(x: impl FnMut(&'static str))",
            format!("declare `mut x` and write `&mut x` in the body, or {block}"),
        ),
        (
            "fn f(x: impl FnMut() -> &'static str)",
            format!("declare `mut x` and write `&mut x` in the body, or {block}"),
        ),
        (
            "fn f(x: impl AsyncFnMut())",
            format!("declare `mut x` and write `&mut x` in the body, or {block}"),
        ),
        (
            "fn f(x: impl Read) -> Result<Box<dyn Page>, Error>",
            format!(
                "declare `mut x` and write `&mut x` in the body, which goes on where the failed attempt stopped, {block}, or {caller}"
            ),
        ),
        (
            "fn f(x: impl Read) -> Result<Box<dyn Page + '_>, Error>",
            format!("{block}, or {caller}"),
        ),
        (
            "fn f(x: impl FnMut() + 'static)",
            format!("add `+ Clone` to the type of `x` and {copy}, {block}, or {caller}"),
        ),
        (
            "fn f(x: impl Read) -> Result<u8, Box<dyn Error + Send>>",
            format!(
                "declare `mut x` and write `&mut x` in the body, which goes on where the failed attempt stopped, {block}, or {caller}"
            ),
        ),
    ] {
        assert_eq!(said(signature, SetBy::Function), advice, "{signature}");
    }
}

#[test]
fn the_signature_decides_the_fix() {
    let block = "retry only what stands before the move with `retry_block!`";
    let caller = "retry in a caller that makes it anew, with `#[retry(never)]` here";
    let copy = "write `clone(id, x)` in the attribute";
    for (signature, advice) in [
        ("fn f(x: Url)", format!("{copy}, or borrow `x`")),
        ("fn f<T: Clone>(x: T)", format!("{copy}, or borrow `x`")),
        (
            "fn f<T>(x: T::Url) where T::Url: Clone",
            format!("{copy}, or borrow `x`"),
        ),
        (
            "fn f<T>(x: T) where T: Clone + Send",
            format!("{copy}, or borrow `x`"),
        ),
        (
            "fn f<T: Read>(x: T, run: &impl Fn(&mut Reader<T>))",
            format!("{block}, or {caller}"),
        ),
        (
            "fn f<R, T: Read>(x: T) where R: Reader<T>",
            format!("{block}, or {caller}"),
        ),
        (
            "fn f<T: Send>(x: T)",
            format!("add `T: Clone` and {copy}, {block}, or {caller}"),
        ),
        // A bound of something else.
        (
            "fn f<T: Of<Clone>>(x: T)",
            format!("add `T: Clone` and {copy}, {block}, or {caller}"),
        ),
        (
            "fn f<T: Of>(x: T::Url)",
            format!("add `T::Url: Clone` and {copy}, {block}, or {caller}"),
        ),
        (
            "fn f(x: <Web as Of>::Url)",
            format!("add `<Web as Of>::Url: Clone` and {copy}, {block}, or {caller}"),
        ),
        (
            "fn f(x: impl Send)",
            format!("add `+ Clone` to the type of `x` and {copy}, {block}, or {caller}"),
        ),
        (
            "fn f(x: impl FnOnce() + Clone)",
            format!("{copy}, or borrow `x`"),
        ),
        (
            "fn f(x: impl FnOnce())",
            format!(
                "replace `impl FnOnce(..)` by `impl FnMut(..)`, declare `mut x` and write `&mut x` in the body, {block}, or {caller}"
            ),
        ),
        (
            "fn f<F>(x: F) where F: FnOnce()",
            format!(
                "replace `F: FnOnce(..)` by `F: FnMut(..)`, declare `mut x` and write `&mut x` in the body, {block}, or {caller}"
            ),
        ),
        (
            "fn f(x: impl Fn())",
            format!("write `&x` in the body, or {block}"),
        ),
        (
            "fn f<P: AsRef<Path>>(x: P)",
            format!("write `&x` in the body, or {block}"),
        ),
        (
            "fn f<P: AsRef<Path>>(x: P) -> Result<P, Error>",
            format!("add `P: Clone` and {copy}, {block}, or {caller}"),
        ),
        (
            "fn f(x: impl Display + 'static)",
            format!("add `+ Clone` to the type of `x` and {copy}, {block}, or {caller}"),
        ),
        ("fn f(x: Box<dyn Send>)", format!("{block}, or {caller}")),
        ("fn f(x: Arc<dyn Send>)", format!("{copy}, or borrow `x`")),
        (
            "fn f(self)",
            format!("write `clone(id, self)` in the attribute, {block}, or {caller}"),
        ),
        (
            "fn f<T>(x: T, y: Url)",
            format!(
                "add `T: Clone` and write `clone(id, x, y)` in the attribute, {block}, or retry in a caller that makes them anew, with `#[retry(never)]` here"
            ),
        ),
        (
            "fn f(x: impl FnOnce(), y: Url)",
            format!(
                "replace `impl FnOnce(..)` by `impl FnMut(..)`, declare `mut x`, write `&mut x` in the body and write `clone(id, y)` in the attribute, {block}, or retry in a caller that makes them anew, with `#[retry(never)]` here"
            ),
        ),
    ] {
        assert_eq!(said(signature, SetBy::Function), advice, "{signature}");
    }
}

/// A block runs again as well, and what is made there ends with it.
#[test]
fn what_has_no_block_in_front_of_it() {
    for (signature, body, has_block) in [
        (
            "fn f(self, x: X)",
            "let Page { head, .. } = self; head.check()?; send(x)",
            false,
        ),
        (
            "fn f(x: Config)",
            "ready()?; let group = x.group.unwrap_or(1); send(x)",
            false,
        ),
        (
            "fn f(x: X)",
            "ready()?; let state = &State::new(); send(x, state)",
            false,
        ),
        (
            "fn f(x: X, log: &Log)",
            "ready()?; let state = &log.state; send(x, state)",
            true,
        ),
    ] {
        let signature = syn::parse_str(signature).expect("a signature");
        let found = find(&body.parse().expect("tokens"), &owned(&signature, None));
        let mut moved = found.certain.iter().filter(|it| it.name == "x");
        let is_told = moved.next().map(|it| it.follows_failure);
        assert_eq!(is_told, Some(has_block), "{body}");
    }
}

#[test]
fn a_trait_keeps_its_signature() {
    let block = "retry only what stands before the move with `retry_block!`";
    let never = "leave the method without retries by `#[retry(never)]`";
    for (signature, advice) in [
        (
            "fn f<T>(x: T)",
            format!("the trait sets the type of `x`: {block}, or {never}"),
        ),
        (
            "fn f<T>(x: T, y: T)",
            format!("the trait sets their types: {block}, or {never}"),
        ),
        (
            "fn f(x: Url)",
            "write `clone(id, x)` in the attribute, or borrow `x`".to_owned(),
        ),
        (
            "fn f(x: impl Fn())",
            format!("write `&x` in the body, or {block}"),
        ),
    ] {
        assert_eq!(said(signature, SetBy::Trait), advice, "{signature}");
    }
}

#[test]
fn who_sets_a_signature() {
    for (signature, is_public, set_by) in [
        ("fn f<T>(x: T)", false, SetBy::Function),
        ("fn f<T>(&self, x: T)", true, SetBy::Function),
        ("fn f<T>(&self, x: T)", false, SetBy::Unknown),
        (
            "fn f<D>(x: D) -> Result<Self, D::Error>",
            false,
            SetBy::Trait,
        ),
        (
            "fn f(self, x: u8) -> Result<Self::Ok, Error>",
            false,
            SetBy::Trait,
        ),
        ("fn f(self) -> Result<Self, Error>", false, SetBy::Unknown),
        (
            "fn f<'life0, 'async_trait>(&'life0 self)",
            false,
            SetBy::Trait,
        ),
    ] {
        let parsed: Signature = syn::parse_str(signature).expect("a signature");
        assert_eq!(SetBy::of(&parsed, is_public), set_by, "{signature}");
    }
    for (head, set_by) in [
        ("impl Client", SetBy::Function),
        ("impl<F: for<'a> Fn(&'a str)> Client<F>", SetBy::Function),
        (
            "unsafe impl<T> Read for Client<T> where T: Send",
            SetBy::Trait,
        ),
    ] {
        let tokens = head.parse().expect("tokens");
        assert_eq!(SetBy::of_block(&tokens), set_by, "{head}");
    }
}

#[test]
fn a_block_is_named_where_something_fails_before_the_move() {
    for (body, names_block) in [
        ("send(x)", false),
        ("let it = send(x)?; it.end()?;", false),
        ("ready()?; send(x)", true),
        ("if it.is_over() { return Err(Over); } send(x)", true),
        ("ready().await; send(x)", true),
        // It has left before, and what stands before may be all.
        ("keep(x.part); ready()?; send(x)", false),
        (
            "if it.is_over() { return Ok(()); } ready()?; send(x)",
            false,
        ),
    ] {
        let signature: Signature = syn::parse_str("fn f<T>(x: T)").expect("a signature");
        let owned = owned(&signature, None);
        let found = find(&body.parse().expect("tokens"), &owned);
        let moved: Vec<_> = found.certain.iter().collect();
        for set_by in [SetBy::Function, SetBy::Trait, SetBy::Unknown] {
            let said = message(&moved, &[], set_by, false);
            assert_eq!(said.contains("retry_block!"), names_block, "{body}: {said}");
        }
    }
}

/// A block of what stands before a move has to do without copies of its own.
#[test]
fn no_block_is_named_that_moves_another_parameter() {
    for (body, names_block) in [
        ("let page = wrap(reader)?; send(x, page)", false),
        ("ready()?; let page = wrap(reader)?; send(x, page)", true),
        ("let page = wrap(&mut reader)?; send(x, page)", true),
        ("let page = wrap(id)?; send(x, page)", true),
        // By custom a type parameter of the block around it.
        ("let page = wrap(own)?; send(x, page)", false),
        // What holds a type without copies has none.
        ("let page = pages?; send(x, page)", false),
    ] {
        let signature = "fn f<T, R>(x: T, mut reader: R, id: Id, own: S, pages: Pages<R>)";
        let signature: Signature = syn::parse_str(signature).expect("a signature");
        let owned = owned(&signature, None);
        let found = find(&body.parse().expect("tokens"), &owned);
        let moved: Vec<_> = found.certain.iter().filter(|it| it.name == "x").collect();
        let said = message_of_unique(&moved, SetBy::Function);
        assert_eq!(said.contains("retry_block!"), names_block, "{body}: {said}");
    }
}
