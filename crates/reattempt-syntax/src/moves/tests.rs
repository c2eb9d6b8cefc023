use syn::parse_quote;

use super::*;

fn found(body: &str) -> Moves {
    let signature: Signature = parse_quote!(
        fn fetch(
            self,
            url: String,
            id: Id,
            run: impl FnOnce(),
            shared: Arc<Id>,
            count: u32,
            borrowed: &mut Id,
            found: Option<Id>,
        )
    );
    let body = body.parse().expect("tokens");
    find(&body, &owned(&signature, None))
}

fn places(moves: &[Move]) -> Vec<String> {
    let places = moves.iter().map(|found| found.place.to_string());
    places.map(|place| place.replace(' ', "")).collect()
}

fn moved(body: &str) -> Vec<String> {
    places(&found(body).certain)
}

#[test]
fn a_bare_name_of_the_prelude_shows_that_there_is_one() {
    for (tokens, may_lack) in [
        (
            "fn f(url: ::std::string::String) -> Answer { send(url) }",
            true,
        ),
        (
            "fn f(url: ::core::option::Option<Id>) { a::Ok(url.Ok) }",
            true,
        ),
        (
            "fn f(url: Url) -> Pin<Box<dyn Future + ::core::marker::Send>>",
            false,
        ),
        ("fn f(url: ::url::Url) { send(url) }", false),
        (
            "fn f(to: T, auth: impl AsRef<str>) -> ::std::result::Result<u8, u8>",
            false,
        ),
        ("fn f(url: Option<Url>) { ::std::mem::drop(url) }", false),
    ] {
        let tokens = tokens.parse().expect("tokens");
        assert_eq!(may_lack_prelude(&tokens), may_lack, "{tokens}");
    }
}

#[test]
fn what_is_certainly_moved() {
    for (body, places) in [
        ("Ok(url)", vec!["url"]),
        ("Ok(url.into_bytes())", vec!["url"]),
        ("send(&url); send(url)", vec!["url"]),
        ("Ok(self)", vec!["self"]),
        ("Ok(self.0)", vec!["self.0"]),
        (
            "let Ok(x) = call(id) else { return Err(url) };",
            vec!["id", "url"],
        ),
        ("let kept = id; Ok(())", vec!["id"]),
        ("let id = parse(id)?; Ok(id)", vec!["id"]),
        ("Ok(vec![url])", vec!["url"]),
        ("Ok(Page { url, id: 3 })", vec!["url"]),
        ("spawn(move || url.len())", vec!["url"]),
        ("spawn(async move { log(&url).await })", vec!["url"]),
        ("spawn(move || id.name.len())", vec!["id.name"]),
        ("spawn(move || url[0])", vec!["url"]),
        ("spawn(move || (id.0)[1] + 1)", vec!["id.0"]),
        ("spawn(move || shared.name.len())", vec!["shared"]),
        ("spawn(move || println!(\"{}\", url))", vec!["url"]),
        ("Ok(|| drop(url))", vec!["url"]),
        ("run(); Ok(())", vec!["run"]),
        ("if url.is_empty() { Ok(1) } else { Err(url) }", vec!["url"]),
        ("match f() { 1 => id, _ => other }", vec!["id"]),
        ("Ok(url + \"x\")", vec!["url"]),
        ("Ok(url == other)", vec![]),
        ("Ok(url as Box<dyn Page>)", vec!["url"]),
        ("found.ok_or(Error)", vec!["found"]),
        ("id?; Ok(())", vec!["id"]),
        ("for x in url { f(x) } Ok(())", vec!["url"]),
        ("self.list = url; Ok(())", vec!["url"]),
        ("dbg!(1); Ok(join!(id, url))", vec!["id", "url"]),
        ("tokio::pin!(id); Ok(id)", vec!["id"]),
        ("bail!(url)", vec!["url"]),
        (
            "tokio::select! { biased; _ = id => 1, n = next(url), if n > 1 => { n } else => 2 }",
            vec!["id", "url"],
        ),
        ("tokio::select! { id = id => id }", vec!["id"]),
        (
            "spawn(move || match found { None => 1, _ => 2 })",
            vec!["found"],
        ),
    ] {
        assert_eq!(moved(body), places, "{body}");
    }
}

#[test]
fn a_name_is_bound_anew_in_its_scope_alone() {
    for (body, places) in [
        ("match f() { Some(id) => Ok(id), _ => Err(id) }", vec!["id"]),
        ("if let Some(id) = f() { g(id) } else { h(id) }", vec!["id"]),
        ("if let Some(id) = f() { g(id) } Ok(())", vec![]),
        ("while let Some(id) = f() { g(id) } Ok(id)", vec!["id"]),
        ("for id in list { g(id) } Ok(id)", vec!["id"]),
        ("{ let id = 3; g(id) } Ok(id)", vec!["id"]),
        ("list.map(|id| g(id)); Ok(id)", vec!["id"]),
        ("let x = async { let id = 3; g(id) }; Ok(id)", vec!["id"]),
        (
            "tokio::select! { id = next() => id, _ = end() => id }",
            vec!["id"],
        ),
        ("{ bind!(id); g(id) } Ok(url)", vec!["url"]),
        ("let id = 3; { Ok(id) }", vec![]),
    ] {
        assert_eq!(moved(body), places, "{body}");
    }
}

#[test]
fn what_may_not_be_moved() {
    for body in [
        "Ok(url.len())",
        "Ok(format!(\"{url}{}\", url))",
        "println!(\"{}\", url); Ok(())",
        "let _ = url; Ok(())",
        "_ = url; Ok(())",
        "let Id { ref a } = id; Ok(())",
        "match id { Id { a } => a.clone() }",
        "if let Some(ref id) = found { f(id) } Ok(())",
        "let url = url.trim(); Ok(url)",
        "Ok(list.iter().map(|id| f(id)))",
        "match f() { id => Ok(id) }",
        "let_it!(url); Ok(url)",
        "(id, url) = f(3); [found] = g(); Page { id, size: url } = h();",
        "select! { id = next() => id, }",
        "select! { x = &mut id => x }",
        "futures::select! { x = id => x }",
        "bail!(\"{url}\")",
        "anyhow!(\"{}\", url); Ok(())",
        "fn url() {} Ok(url)",
        "Ok(url == other)",
        "Ok(shared.name)",
        "Ok(count)",
        "Ok(f(borrowed))",
        "Ok(self.name.len())",
        "Ok(id.parts())",
        "todo!(); Ok(url)",
        "return Err(1); drop(url)",
        "#[cfg(unix)] drop(url); Ok(())",
        "Ok(Page { rest: 1, ..id })",
        "url[1..].len(); *id = 3; Ok(())",
        "async { &url }; Ok(())",
        "x.url; Ok(x.id)",
        "url::parse(3)",
    ] {
        assert_eq!(moved(body), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn a_variable_takes_all_of_a_reference() {
    for (body, possible) in [
        (
            "match borrowed { one if f(one) => 1, _ => 2 }",
            vec!["borrowed"],
        ),
        ("match borrowed { Id { a } => 1, NONE => 2 }", vec![]),
        ("match borrowed { ref one => 1 }", vec![]),
    ] {
        assert_eq!(places(&found(body).possible), possible, "{body}");
    }
}

#[test]
fn a_method_of_self_may_take_it_whatever_its_name() {
    for (body, possible) in [
        ("self.write_empty(3)", vec!["self"]),
        ("self.inner.write_empty(3)", vec!["self.inner"]),
        ("url.is_empty()", vec![]),
        // A number.
        ("self.size.to_be_bytes()", vec![]),
    ] {
        assert_eq!(places(&found(body).possible), possible, "{body}");
    }
}

#[test]
fn what_may_be_moved_the_likeliest_first() {
    for (body, expected) in [
        ("Ok(id.into_parts())", vec!["id"]),
        ("Ok(id.into_request())", vec!["id"]),
        ("Ok(self.client.send())", vec!["self.client"]),
        (
            "match found { Some(x) => Ok(x), None => Err(1) }",
            vec!["found"],
        ),
        ("let Id { a } = id; Ok(a)", vec!["id"]),
        ("*id = 3; Ok(())", vec!["*id"]),
        ("#[cfg(unix)] drop(url); Ok(())", vec!["url"]),
        ("f(id.a(), url.into_b())", vec!["url"]),
        ("Ok(url.len() + id.get())", vec![]),
        ("fn inner(url: String) { drop(url) } Ok(())", vec![]),
        ("send(url)", vec![]),
        ("into!(url, id); f(url)", vec!["url", "id"]),
        ("matches!(url, A | B)", vec![]),
        // The last use.
        (
            "self.begun()?; Ok((1, self.kept.over()))",
            vec!["self.kept"],
        ),
        // That of tokio or of futures.
        (
            "select! { x = id => x, y = f(&url) => y }",
            vec!["url", "id"],
        ),
        // A field may be copied.
        ("f(self.size); self.write(3)", vec!["self"]),
        ("f(id.size); Ok(id.into_b())", vec!["id"]),
    ] {
        assert_eq!(places(&found(body).possible), expected, "{body}");
    }
}

/// What may be a move as well as not, where nothing else explains one.
#[test]
fn names_of_methods_only_hint() {
    for (body, unlikely) in [
        ("Ok(url.write_to(3))", vec!["url"]),
        ("Ok(id.parts())", vec!["id"]),
        ("Ok(id.to_part(3))", vec!["id"]),
        ("Ok(id.to_part())", vec![]),
        ("Ok(self.inner.to_end())", vec!["self.inner"]),
        ("checked!(url.x, f(id))", vec!["url", "id"]),
        ("checked!(url => id)", vec!["url", "id"]),
        ("send(borrowed)", vec!["borrowed"]),
        // The last use.
        (
            "id.begun()?; f(shared.x()); Ok((1, id.over()))",
            vec!["shared", "id"],
        ),
        ("f(url.clone()); Ok(id.into_over())", vec![]),
        ("f(checked!(&id)); Ok(id)", vec![]),
        ("f(url.len(), url.as_text()); Ok(id)", vec![]),
    ] {
        assert_eq!(places(&found(body).unlikely), unlikely, "{body}");
    }
}

#[test]
fn a_condition_hides_only_what_it_stands_before() {
    for (body, certain, possible) in [
        ("#[cfg(unix)] log(1); drop(url)", vec!["url"], vec![]),
        (
            "f(Page { #[cfg(unix)] a: id, b: url })",
            vec!["url"],
            vec!["id"],
        ),
        (
            "match f() { #[cfg(unix)] 1 => id, _ => url }",
            vec!["url"],
            vec!["id"],
        ),
        ("#[cfg(unix)] let url = 3; drop(url)", vec![], vec![]),
    ] {
        assert_eq!(moved(body), certain, "{body}");
        assert_eq!(places(&found(body).possible), possible, "{body}");
    }
}

#[test]
fn statements_that_nothing_follows_are_told_apart() {
    for (body, has_dead_code) in [
        ("todo!(); drop(url)", true),
        ("if x { return Err(1); f(&url) } Ok(())", true),
        ("#[cfg(unix)] return Err(1); drop(url)", false),
        ("drop(url); return Ok(())", false),
        ("loop { if g(&url) { break } } Ok(())", false),
    ] {
        assert_eq!(found(body).has_dead_code, has_dead_code, "{body}");
    }
}

#[test]
fn a_parameter_may_be_a_pattern() {
    let signature: Signature = parse_quote!(
        fn fetch((id, url): (u32, String), Pair(a, None): Pair, Page { size: s, ref head }: Page, [x]: [&str; 1])
    );
    let names: Vec<_> = owned(&signature, None)
        .iter()
        .map(|it| it.name.to_string())
        .collect();
    assert_eq!(names, ["url", "a", "s"]);
}

#[test]
fn a_reference_to_a_generic_type_is_likely_to_be_moved() {
    let signature: Signature = parse_quote!(
        async fn copy<R: Read>(&mut self, from: &mut R, to: &mut File, by: &mut impl Run)
    );
    let found = find(
        &"run(from, to, by, self)".parse().expect("tokens"),
        &owned(&signature, None),
    );
    assert_eq!(places(&found.possible), ["from", "by", "self"]);
}

#[test]
fn a_pin_is_taken_by_what_it_is_called_with() {
    let signature: Signature = parse_quote!(fn flush(to: Pin<&mut File>, context: &mut Context));
    let owned = owned(&signature, None);
    for (body, possible) in [
        ("to.flush(context)", vec!["to"]),
        ("to.as_mut().flush(context)", vec![]),
    ] {
        let found = find(&body.parse().expect("tokens"), &owned);
        assert_eq!(places(&found.possible), possible, "{body}");
    }
}

#[test]
fn variables_in_front_of_a_block_are_moved_once() {
    let signature: Signature = parse_quote!(fn fetch(url: String) -> impl Future);
    let front: Block = parse_quote!({
        let (size, body): (u32, Body) = parts;
        let ref kept = url;
        if let Some(inner) = other {}
        let Some(found) = find() else { return };
        let id = text.parse().unwrap_or_default();
        let run = move || found;
    });
    let front = in_front(&signature, &front.stmts);
    let names: Vec<_> = front.iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["body", "found", "id", "run"]);
    let body = "send(body, found, id, run)".parse().expect("tokens");
    let moves = find(&body, &front);
    assert!(moves.certain.iter().all(|it| it.way == Way::InFront));
    assert_eq!(places(&moves.certain), ["body", "found"]);
    // These have a type by what follows.
    assert_eq!(places(&moves.possible), ["id", "run"]);
}

#[test]
fn a_format_names_variables_in_its_string() {
    assert_eq!(
        moved(r#"run2(move || println!("{{id}} {url:?}"))"#),
        ["url"]
    );
    assert!(moved(r#"println!("{url}")"#).is_empty());
}
