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
    let found = find(&method.sig, answer, &body);
    let held = found.as_ref().map(|it| it.held.clone());
    match found.map(|it| it.proof) {
        None => "none".to_owned(),
        Some(Proof::Body(apart)) => {
            let others = apart
                .others
                .iter()
                .map(|it| format!("{} as {}, ", it.of, it.name));
            format!(
                "{}{}",
                others.collect::<String>(),
                apart.body.to_string().replace(' ', "")
            )
        }
        Some(Proof::Held) => {
            let places: Vec<_> = held.iter().flatten().map(ToString::to_string).collect();
            places.join(", ").replace(" . ", ".")
        }
        Some(proof) => format!("{proof:?}"),
    }
}

/// Methods, and what is asked.
const ASKED: &[(&str, &str)] = &[
    (
        "fn f<'a>(self: &'a mut Self) -> Result<&'a str, E> { self.inner.next(1) }",
        "source.inner.next(1)",
    ),
    // A path is no variable.
    (
        "fn f(&mut self) -> Result<&str, E> { self::turn(1)?; self.inner.next(1) }",
        "self::turn(1)?;source.inner.next(1)",
    ),
    // The closure of an error makes no success.
    (
        "fn f(&mut self) -> Result<&mut [u8], E> { Some(&mut self.page).ok_or_else(|| E::Gone) }",
        "Certain",
    ),
    (
        "fn f(&mut self) -> Result<&str, E> { self.inner.next(1) }",
        "source.inner.next(1)",
    ),
    // Another part of `self` changes, which says nothing of this one.
    (
        "fn f(&mut self) -> Result<&str, E> { self.count += 1; let n = self.count; self.inner.next(n) }",
        "self as rest, rest.count+=1;letn=rest.count;source.inner.next(n)",
    ),
    // What stands before it may be another borrow: `next` may answer with what outlives both.
    (
        "fn f(&mut self) -> Result<&str, E> { self.fill(self.size)?; self.inner.next(1) }",
        "self as rest, rest.fill(rest.size)?;source.inner.next(1)",
    ),
    // What is made of a `&` of a variable borrows what a method made the variable of.
    (
        "fn f(&mut self) -> Result<Line<'_>, E> { let line = self.read()?; Ok(Line { head: pick(&line, 1), tail: pick(&line, 2) }) }",
        "letline=source.read()?;Ok(Line{head:pick(&line,1),tail:pick(&line,2)})",
    ),
    (
        "async fn f(&mut self) -> Result<Line<'_>, E> { let line = self.read().await?; Ok(Line { head: pick(&line, 1), tail: pick(&line, 2) }) }",
        "letline=source.read().await?;Ok(Line{head:pick(&line,1),tail:pick(&line,2)})",
    ),
    // Another parameter has another name, which the body does not see, and so has another `self`.
    (
        "fn f(&mut self, log: &mut Log, n: u8) -> Result<&str, E> { self.part(log) }",
        "log as log, source.part(log)",
    ),
    (
        "fn f<'a>(&mut self, page: &'a mut Page) -> Result<&'a str, E> { self.fill(page) }",
        "self as this, this.fill(source)",
    ),
    // A reference that a method of it answers is one of it, unless it is likely a constant.
    (
        "fn f(&mut self) -> Result<&Page, E> { self.fill()?; Ok(self.page()) }",
        "source.fill()?;Ok(source.page())",
    ),
    (
        "fn f(&mut self) -> Result<&str, E> { self.fill()?; Ok(self.text()) }",
        "self as rest, rest.fill()?;Ok(source.text())",
    ),
    // A field is what the answer borrows, beside what borrows nothing.
    (
        "fn f(&mut self) -> Result<Node<'_>, E> { self.n += 1; Node::new(self.tree, self.n + 1) }",
        "self as rest, rest.n+=1;Node::new(source.tree,rest.n+1)",
    ),
    (
        "fn f(&mut self) -> Result<Node<'_>, E> { self.n += 1; Node::new(self.tree, self.name) }",
        "self.tree, self.name",
    ),
    // A part of what a chain of methods gives is borrowed as the chain borrows it.
    (
        "fn f(&mut self) -> Result<&Page, E> { self.fill()?; Ok(&self.last.as_ref().unwrap().page) }",
        "source.fill()?;Ok(&source.last.as_ref().unwrap().page)",
    ),
    (
        "fn f(&mut self) -> Result<&Page, E> { self.fill()?; let last = self.last.as_ref().unwrap(); Ok(&last.page) }",
        "source.fill()?;letlast=source.last.as_ref().unwrap();Ok(&last.page)",
    ),
    // The only part of a value that may borrow is all that does; of two it may be either.
    (
        "fn f(&mut self) -> Result<Row<'_>, E> { Ok(Row { all: self.pages.next()?, n: 1 }) }",
        "Ok(Row{all:source.pages.next()?,n:1})",
    ),
    (
        "fn f(&mut self) -> Result<Row<'_>, E> { Ok(Row { name: &self.name, n: self.count.next() }) }",
        "self as rest, Ok(Row{name:&source.name,n:rest.count.next()})",
    ),
    // What a pattern takes out of it is a part of it.
    (
        "fn f(&mut self) -> Result<&str, E> { match &mut self.kind { A(it) | B(it) => it.next(), C => Err(E) } }",
        "match&mutsource.kind{A(it)|B(it)=>it.next(),C=>Err(E)}",
    ),
    (
        "fn f(&mut self) -> Result<&str, E> { match &mut self.kind { A { it, n } => it.next(n), C => Err(E) } }",
        "match&mutsource.kind{A{it,n}=>it.next(n),C=>Err(E)}",
    ),
    // Behind `?`, in a tuple and in an unsafe block it is what it is elsewhere.
    (
        "fn f(&mut self) -> Result<&Page, E> { self.fill()?; Ok(&self.last()?.page) }",
        "source.fill()?;Ok(&source.last()?.page)",
    ),
    (
        "fn f(&mut self) -> Result<&Page, E> { self.fill()?; Ok(&(self.last()?.pages)[0]) }",
        "source.fill()?;Ok(&(source.last()?.pages)[0])",
    ),
    (
        "fn f(&mut self) -> Result<&str, E> { unsafe { self.inner.next(1) } }",
        "unsafe{source.inner.next(1)}",
    ),
    (
        "fn f(&mut self) -> Result<&mut Page, E> { self.fill()?; Ok(unsafe { &mut self.page }) }",
        "Certain",
    ),
    (
        "fn f(&mut self) -> Result<(&mut Page, u8), E> { Ok((&mut self.page, 1)) }",
        "Certain",
    ),
    (
        "fn f(&mut self) -> Result<(u8, &Page), E> { Ok((self.count()?, self.pages.next()?)) }",
        "Ok((source.count()?,source.pages.next()?))",
    ),
    // What an error holds is no answer.
    (
        "fn f<'a>(all: &'a mut All, n: u8) -> Result<Page<'a>, E> { if n > 3 { return Err(E::new(all)); } let page = all.get(n)?; Ok(Page::from(page)) }",
        "n as n, ifn>3{returnErr(E::new(source));}letpage=source.get(n)?;Ok(Page::from(page))",
    ),
    (
        "fn f<'a>(all: &'a mut All, n: u8) -> Result<Page<'a>, E> { if n > 3 { Err(E::of(&mut all.name)) } else { let page = all.get(n)?; Ok(Page::from(page)) } }",
        "n as n, ifn>3{Err(E::of(&mutsource.name))}else{letpage=source.get(n)?;Ok(Page::from(page))}",
    ),
    (
        "fn f(&mut self) -> Result<&str, E> { match self.kind() { 0 => Err(E::of(&mut self.page)), _ => self.inner.next(1) } }",
        "self as rest, matchrest.kind(){0=>Err(E::of(&mutrest.page)),_=>source.inner.next(1)}",
    ),
    (
        "fn f(&mut self) -> Result<&str, E> { match self.kind() { 0 => Err(&mut self.page), _ => Ok() } }",
        "none",
    ),
    // A name of two patterns may stand for either.
    (
        "fn f(&mut self) -> Result<&str, E> { if let Some(it) = &mut self.a { return it.next(); } if let Some(it) = &mut self.b { return it.next(); } Err(E) }",
        "none",
    ),
    // A lifetime of the function says what the answer is made of, whatever the body does with it.
    (
        "fn f<'a>(&'a mut self, n: u8) -> Result<Page<'a>, E> { let all = self.all(n)?; Ok(Page::from(all)) }",
        "n as n, letall=source.all(n)?;Ok(Page::from(all))",
    ),
    // What has a type that one parameter alone brings is made of that.
    (
        "fn f<'a, RS>(xl: &'a mut Book<RS>, n: u8) -> Result<Iter<'a, RS>, E> { read(&mut xl.zip, n, &xl.all).map_or_else(none, some) }",
        "xl as xl, n as n, read(&mutsource.zip,n,&xl.all).map_or_else(none,some)",
    ),
    (
        "fn f<'a, RS>(xl: &'a mut Book<RS>, from: &RS) -> Result<Iter<'a, RS>, E> { read(&mut xl.zip, from, &xl.all).map_or_else(none, some) }",
        "xl as xl, from as from, read(&mutsource.zip,from,&xl.all).map_or_else(none,some)",
    ),
    // A variable may have the name of the parameter.
    (
        "fn f<'a>(data: &'a mut [u8]) -> Result<&'a [u8], E> { let (data, tail) = data.split_at_mut(4); Ok(tail) }",
        "data as data, let(data,tail)=source.split_at_mut(4);Ok(tail)",
    ),
    // A variable, or a call, that the answer takes has what it borrows; one of which a method is called may not.
    (
        "fn f(&mut self) -> Result<Page<'_>, E> { let all = read(&mut self.all)?; Ok(Page::new(all, 1)) }",
        "letall=read(&mutsource.all)?;Ok(Page::new(all,1))",
    ),
    (
        "fn f(&mut self) -> Result<Page<'_>, E> { let all = read(&mut self.all)?; all.page() }",
        "none",
    ),
    // What a method of `self` gives has what a method makes of that, where the type has a lifetime.
    (
        "fn f(&mut self, n: u8) -> Result<Page<'_>, E> { let all = self.all.get(n)?; Ok(all.page(n)) }",
        "n as n, letall=source.all.get(n)?;Ok(all.page(n))",
    ),
    (
        "fn f(&mut self, n: u8) -> Result<&str, E> { let all = self.all.get(n)?; Ok(all.name()) }",
        "none",
    ),
    // A part that a field gives is borrowed by `&` after the rest.
    (
        "fn f(&mut self) -> Result<&[u8], E> { self.fill()?; Ok(self.all.rest()) }",
        "source.fill()?;Ok(source.all.rest())",
    ),
    // What is taken out of an `Option` is what was put into it.
    (
        "fn f<'d>(&mut self, data: &'d mut [u8]) -> Result<Page<'d>, E> { let mut data = Some(data); loop { let all = data.take().unwrap(); if let Some(page) = self.page(all)? { return Ok(page) } } }",
        "data as data, self as this, letmutdata=Some(source);loop{letall=data.take().unwrap();ifletSome(page)=this.page(all)?{returnOk(page)}}",
    ),
    // A type that one parameter alone brings is made of that, whatever else has its lifetime.
    (
        "fn f<'a, R>(from: &'a mut R, all: All<'a>) -> Result<Page<'a, R>, E> { let from = from.take(1); let from = all.page(from)?; Ok(Page { n: 1, from }) }",
        "from as from, all as all, letfrom=source.take(1);letfrom=all.page(from)?;Ok(Page{n:1,from:from})",
    ),
    // So is what has the type of a reader that `self` has, whatever stands beside it.
    (
        "fn f(&mut self, n: u8) -> Result<Page<'_, R>, E> { let (name, all) = self.files.get(n).ok_or(E)?; let from = all.find(&mut self.from)?; let from = all.page(from)?; Ok(Page { name: Cow::Borrowed(name), all: Cow::Borrowed(all), from }) }",
        "self as rest, n as n, let(name,all)=rest.files.get(n).ok_or(E)?;letfrom=all.find(&mutsource.from)?;letfrom=all.page(from)?;Ok(Page{name:Cow::Borrowed(name),all:Cow::Borrowed(all),from})",
    ),
    // What is copied out of a borrow is a value.
    (
        "fn f(&mut self) -> Result<Page<'_>, E> { let guard = guarded(&mut self.bytes); let n = *guard.0; Ok(Page::new(n, 1)) }",
        "none",
    ),
    // What a method that may fail makes is mostly a value.
    (
        "fn f(&mut self) -> Result<Page<'_>, E> { let n = self.count()?; Ok(Page::new(n, 1)) }",
        "none",
    ),
    // An argument behind a `&` is not what is borrowed.
    (
        "fn f(&mut self) -> Result<Page<'_>, E> { self.all.page(&self.key) }",
        "self as rest, source.all.page(&rest.key)",
    ),
    // Which of two parts that is no signature says.
    (
        "fn f<'a>(&'a mut self) -> Result<Page<'a>, E> { let all = self.all.get(self.n)?; Ok(Page::from(all)) }",
        "none",
    ),
];

#[test]
fn what_the_compiler_is_asked_for() {
    for (method, expected) in ASKED.iter().copied() {
        assert_eq!(proof(method), expected, "{method}");
    }
}

/// What is compiled only sometimes is no answer, and hides none.
#[test]
fn conditions_hide_what_stands_behind_them() {
    for (method, expected) in [
        (
            "fn f(&mut self) -> Result<&mut [u8], E> { #[cfg(unix)] let n = 1; Ok(&mut self.page) }",
            "Certain",
        ),
        (
            "fn f(&mut self) -> Result<&mut [u8], E> { #[cfg(unix)] { Ok(&mut self.page) } #[cfg(windows)] { Ok(&mut NONE) } }",
            "none",
        ),
        (
            "fn f(&mut self) -> Result<&mut [u8], E> { #[cfg(unix)] return Ok(&mut NONE); Ok(&mut self.page) }",
            "none",
        ),
        // In a macro nobody can hide a part alone: the statement is.
        (
            "fn f(&mut self) -> Result<&mut [u8], E> { let n = tried!(self.n, #[cfg(unix)] 1)?; Ok(&mut self.page) }",
            "Certain",
        ),
        (
            "fn f(&mut self) -> Result<&mut [u8], E> { tried!(return Ok(&mut NONE), #[cfg(unix)] 1); Ok(&mut self.page) }",
            "none",
        ),
        // A value that is sometimes there is a second one that may borrow.
        (
            "fn f(&mut self) -> Result<Row<'_>, E> { Ok(Row { n: self.count(), #[cfg(unix)] page: &mut self.page }) }",
            "none",
        ),
        // Another parameter may be there only sometimes.
        (
            "fn f<'a>(page: &'a mut Page, #[cfg(unix)] n: u8) -> Result<Row<'a>, E> { #[cfg(unix)] see(n); Row::new(page) }",
            "n as n, #[cfg(unix)]see(n);Row::new(source)",
        ),
    ] {
        assert_eq!(proof(method), expected, "{method}");
    }
}

#[test]
fn what_a_method_makes_of_a_self_by_value_may_hold_it() {
    for (method, expected) in [
        (
            "fn f(self) -> Result<Self::Map, E> { let n = self.n; let seq = self.seq(n)?; Ok(Map { seq, n }) }",
            "self, self.n",
        ),
        // A `self` that is there afterwards was not given away.
        (
            "fn f(self) -> Result<Self::Map, E> { let n = self.count(); self.start()?; Ok(Map { n, max: 3 }) }",
            "none",
        ),
    ] {
        assert_eq!(proof(method), expected, "{method}");
    }
}

#[test]
fn what_stands_beside_a_borrow() {
    for (method, expected) in [
        // A type that is made of two parameters with one lifetime mostly holds both; a text may be either.
        (
            "fn f<'a>(&'a mut self, name: &'a str) -> Result<Page<'a>, E> { page(name, &mut self.all) }",
            "name as name, page(name,&mutsource.all)",
        ),
        (
            "fn f<'a>(&'a mut self, name: &'a str) -> Result<&'a str, E> { Ok(clean(name, self)) }",
            "none",
        ),
        // A number that a method makes is no borrow beside one.
        (
            "fn f<'a>(&'a mut self, name: &'a str) -> Result<Page<'a>, E> { Ok(Page::new(name, self.count())) }",
            "none",
        ),
        // What a closure makes of nothing is no part of what its method is called on.
        (
            "fn f(&mut self, n: u8) -> Result<&str, E> { self.fill()?; Ok(self.all.get(&n).map(|it| &it.name).unwrap_or(NONE)) }",
            "n as n, source.fill()?;Ok(source.all.get(&n).map(|it|&it.name).unwrap_or(NONE))",
        ),
        (
            "fn f(&mut self, n: u8) -> Result<&str, E> { self.fill()?; self.all.get(&n).map(|_| NAME).ok_or(E) }",
            "self as rest, n as n, rest.fill()?;source.all.get(&n).map(|_|NAME).ok_or(E)",
        ),
        // What is `ref` is borrowed by `&`, and what stands beside it is copied.
        (
            "fn f(&mut self) -> Result<&Page, E> { self.fill()?; match self.last { Some((ref it, n)) => Ok(it), None => Err(E) } }",
            "source.fill()?;matchsource.last{Some((refit,n))=>Ok(it),None=>Err(E)}",
        ),
        (
            "fn f(&mut self) -> Result<&str, E> { self.fill()?; match self.last { Some((ref it, n)) => Ok(n), None => Err(E) } }",
            "self as rest, rest.fill()?;matchsource.last{Some((refit,n))=>Ok(n),None=>Err(E)}",
        ),
        // What lives longer than a lifetime of the answer may be in it.
        (
            "fn f<'b: 'a>(page: &'b mut Page, n: u8) -> Result<Row<'a>, E> { Row::new(page, n) }",
            "n as n, Row::new(source,n)",
        ),
        // A field beside `self` is another one of those that may be a mutable reference.
        (
            "fn f(self) -> Result<Self::Rows, E> { let start = self.start; Ok(Rows { of: self, start }) }",
            "self, self.start",
        ),
        // Of two parts the likeliest is a `&mut` that a constructor gets to be borrowed by it.
        (
            "fn f(&mut self) -> Result<Page<'_>, E> { let all = &mut self.all; let name = self.names.get(1)?; Ok(Page { name: Cow::Borrowed(name), all: Of::Raw(name.find(all)?) }) }",
            "self as rest, letall=&mutsource.all;letname=rest.names.get(1)?;Ok(Page{name:Cow::Borrowed(name),all:Of::Raw(name.find(all)?)})",
        ),
        // What a call alone makes of it may be a number.
        (
            "fn f(&mut self) -> Result<Page<'_>, E> { let n = read(&mut self.all)?; Ok(Page { name: &self.names[0], n }) }",
            "self as rest, letn=read(&mutrest.all)?;Ok(Page{name:&source.names[0],n})",
        ),
        // The variables of a closure are those of the body.
        (
            "fn f(&mut self) -> Result<Page<'_>, E> { let all = &mut self.all; self.names.get(1).and_then(move |name| { let found = match name.kind { 0 => Of(name.find(all)?), _ => return Err(E) }; Ok(Page { name, found }) }) }",
            "self as rest, letall=&mutsource.all;rest.names.get(1).and_then(move|name|{letfound=matchname.kind{0=>Of(name.find(all)?),_=>returnErr(E)};Ok(Page{name,found})})",
        ),
        // What is made into something else is a part of that.
        (
            "fn f(&mut self) -> Result<Rows<'_>, E> { let n = self.n; let rows = rows(&mut self.pages); Ok(rows.into_sorted(n)) }",
            "self as rest, letn=rest.n;letrows=rows(&mutsource.pages);Ok(rows.into_sorted(n))",
        ),
        // The field of a variable that holds `self` is one of `self`.
        (
            "fn f(self) -> Result<Self::Rows, E> { let rows = self; Ok(Rows { of: rows.of }) }",
            "self.of",
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
    assert_eq!(proof(named), "parts(&mutsource.bytes)");
}

/// An answer that borrows by `&` what the rest of the body may need by `&mut`.
#[test]
fn a_shared_borrow_is_asked_about_with_its_body() {
    for (body, expected) in [
        (
            "self.fill()?; Ok(&self.page)",
            "source.fill()?;Ok(&source.page)",
        ),
        (
            "let n = 1; out.count = self.read(n); Ok(&self.page)",
            "letn=1;out.count=source.read(n);Ok(&source.page)",
        ),
        (
            "self.count += 1; Ok(&self.page)",
            "self as rest, rest.count+=1;Ok(&source.page)",
        ),
        // A field that is a reference is no part of `self`.
        (
            "let n = self.read()?; Ok((self.name, n, self.page))",
            "self.name, self.page",
        ),
    ] {
        let method = format!("fn f(&mut self) -> Result<&str, E> {{ {body} }}");
        assert_eq!(proof(&method), expected, "{method}");
    }
}

/// What stands between a borrow and the answer cannot be retried without it.
#[test]
fn a_block_ends_before_the_borrow() {
    let says_block = |body: &str| {
        let method =
            format!("fn f<P: Bind>(&mut self, p: P) -> Result<Page<'_, R>, E> {{ {body} }}");
        let method: ImplItemFn = parse_str(&method).expect("a method");
        let ReturnType::Type(_, answer) = &method.sig.output else {
            return None;
        };
        let statements = method.block.stmts.iter();
        let body = statements.map(ToTokens::to_token_stream).collect();
        let found = find(&method.sig, answer, &body)?;
        Some(found.message().contains("retry_block!"))
    };
    let behind = "let all = &mut self.all; let name = names.get(1)?; Ok(name.find(all)?)";
    assert_eq!(says_block(behind), Some(false));
    let before = "let name = names.get(1)?; let all = &mut self.all; Ok(name.find(all)?)";
    assert_eq!(says_block(before), Some(true));
    // It would move what has no copies.
    let moved = "p.bind(1)?; let all = &mut self.all; Ok(name.find(all)?)";
    assert_eq!(says_block(moved), Some(false));
    // The answer names `self` as well, and the borrow stands before it.
    let made = "let all = chain(&mut self.all)?; Page::new(all, self.size)";
    assert_eq!(says_block(made), Some(false));
    // A block that ends the function with a success has no value for what follows it.
    let ends = "let name = names.get(1)?; if name.is_empty() { return Ok(NONE) } let all = &mut self.all; Ok(name.find(all)?)";
    assert_eq!(says_block(ends), Some(false));
}
