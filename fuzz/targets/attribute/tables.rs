//! What is written in attributes and below them, as it should be and as it should not.

pub(crate) const OTHER: &[&str] = &[
    "never", "retries", "maxx", "max_delay", "delay", "r#max", "a::b", "Max", "_", "self", "tokio::max",
];

pub(crate) const VALUES: &[&str] = &[
    "3", "0", "1", "-1", "21", "4294967296", "1_000", "5s", "0.2", "1.0", "0.0", "1e400", "2.0", "true", "false",
    "\"unlimited\"", "\"exp\"", "\"none\"", "\"fixed\"", "\"linear\"", "\"fibonacci\"", "\"decorrelated\"", "\"full\"",
    "\"equal\"", "\"collapse\"", "\"multiply\"", "\"quiet\"", "\"spans\"", "\"times\"", "\"100ms\"", "\"1m 30s\"",
    "\"24h\"", "\"25h\"", "\"0s\"", "\"10\"", "\"\"", "b\"10ms\"", "'c'", "c\"x\"", "r#\"1s\"#",
    "Duration::from_millis(5)", "const { X }", "POLICY", "Self::POLICY", "self.policy", "&self.policy", "policy()",
    "Policy::new().max(3)", "Policy::background()", "\"storage\"", "\"default\"", "&STORE", "Budget::per_success(0.1)",
    "Budget::tokens(500)", "quantile(0.95)", "quantile(2.0)", "Hedge::after(D).max(2)", "after(\"10ms\")", "_",
    "A | B", "Some(x) if x > 3", "|e| e.is_transient()", "|e: &E| -> bool { true }", "async |e| true",
    "async move |_| true", "move |e| f(e)", "is_transient", "Error::is_transient", "|_| panic!()", "|value| value.done",
    "context", "ctx", "url", "url, page", "self", "&mut self", "[a, b]", "(a, b)", "{ a }", "crate", "::krate::path",
    "self::inner", "super::x", "if a { 1 } else { 2 }", "unsafe { f() }", "f::<T>()", "<T as Tr>::F", "x.await", "x?",
    "return", "break", "vec![1]", "concat!(\"a\", \"b\")", "\"a b\"", "\"payments.charge\"", "..", "1..=2", "",
    "|failure| Decision::Stop", "strategy::from_fn(f)", "&TIMER", "None", "Some(3)", "|| x", "|_| async { 1 }", "1 + 2",
    "-Duration::ZERO", "!x", "x as u32", "x = y", "#[a] x", "loop {}", "$x", "'a: loop {}",
];

pub(crate) const BEFORE: &[&str] = &[
    "fn", "async fn", "pub fn", "pub(crate) async fn", "const fn", "unsafe fn", "extern \"C\" fn", "#[retry(max = 2)] fn",
    "#[reattempt::retry] fn", "#[tracing::instrument(skip(x))] async fn", "#[async_trait] fn", "/// doc\nfn",
    "#[inline] #[must_use] fn", "async unsafe fn", "pub const async unsafe extern fn", "#[instrument] fn",
];

pub(crate) const PARAMETERS: &[&str] = &[
    "", "url: &str", "self", "&self", "&mut self", "self: Box<Self>", "mut x: u8", "(a, b): (u8, u8)", "_: u8",
    "&self, url: String", "x: impl Into<String>", "#[a] x: u8", "S { a, .. }: S", "ref x: u8", "x: &mut u8, y: T", "...",
    "mut self", "self: Pin<&mut Self>", "x @ 1..: u8", "url: &str, page: u32", "[a, b]: [u8; 2]", "r#type: u8",
];

pub(crate) const ANSWERS: &[&str] = &[
    "", "-> Result<T, E>", "-> Option<T>", "-> Result<T, RetryError<E>>", "-> Result<T, reattempt::RetryError<E>>",
    "-> io::Result<()>", "-> impl Future<Output = Result<T, E>>", "-> impl Future<Output = Result<T, E>> + Send + 'a",
    "-> Pin<Box<dyn Future<Output = Result<T, E>> + Send + '_>>", "-> BoxFuture<'a, Result<T, E>>", "-> !", "-> ()",
    "-> u8", "-> Self", "-> Result<Self, E> where T: A", "-> (A, B)", "-> T where T: B", "-> Box<dyn Fn() -> u8>",
    "-> impl Iterator<Item = u8>", "-> Result", "-> Result<T>", "-> m!()", "-> Poll<Option<Result<T, E>>>",
];

pub(crate) const BODIES: &[&str] = &[
    "{}", "{ Ok(()) }", "{ f()?; Ok(1) }", "{ async move { Ok(1) } }", "{ Box::pin(async move { Ok(1) }) }", ";",
    "{ #![allow(x)] Ok(()) }", "{ self.x.get(url).await }", "{ let x = 1; async {} }", "{ return Err(e); }",
    "{ loop { break } }", "{ fn inner(&self) { self.x } use self::y; self.z }", "{ async { 1 }.boxed() }", "{ + + }",
    "{ let __tracing_attr_span = x; let __tracing_instrument_future = async move { Ok(1) }; y }",
    "{ Box::pin(async move { let __self = self; let __ret: Result<T, E> = { Ok(1) }; __ret }) }", "{ m!(self) }",
    "{ if let Some(__ret) = None::<Result<T, E>> { return __ret; } Ok(1) }", "= x", "{ |self_| self_ }", "{ a; b; c }",
    "{ 'a: { break 'a 1 } }", "{ include_str!(\"x\") }", "{ compile_error!(\"x\") }", "{ macro_rules! m { () => {} } }",
];

pub(crate) const ITEMS: &[&str] = &[
    "impl A { fn f(&self) -> Result<T, E> { Ok(()) } #[retry(never)] async fn g() {} fn h() -> u8 { 1 } }",
    "impl<T: B> C for D<T> where T: E { const X: u8 = 1; type Y = u8; #[retry(max = 2)] async fn f(self) -> Result<(), E> {} }",
    "impl A { #[retry] fn f() -> Result<T, E>; m!(); }", "impl A {}", "unsafe impl A { fn f() {} }", "impl A { + }",
    "#[async_trait] impl A for B { async fn f(&self) -> Result<T, E> { Ok(1) } }", "struct S;", "trait T { fn f(); }",
    "mod m { fn f() {} }", "const X: u8 = 1;", "static S: Budget = Budget::tokens(1);", "enum E { A }", "let x = f();",
    "|x| x", "async { 1 }", "{ 1 }", "x", "", "impl", "fn", "fn f", "impl A { pub(crate) const async unsafe fn f(&mut self) -> Option<T> {} }",
    "default impl A { default fn f() {} }", "extern { fn f(); }", "macro_rules! m { () => {} }", "m!();", "impl !A for B {}",
    "impl A { #[retry(policy = X)] #[retry] fn f() {} #[cfg(x)] fn g(&self) -> Result<T, E> { #![a] f() } }",
];

pub(crate) const BLOCKS: &[&str] = &[
    "{ Ok(()) }", "|| { f()?; Ok(1) }", "|| -> Result<T, E> { Ok(1) }", "async { f().await }", "async move { Ok(1) }",
    "async || -> Result<T, RetryError<E>> { Ok(1) }", "async move || Ok(1)", "move || -> Option<T> { None }", "|x| x", "f()",
    "|| f()", "{}", "", "max = 3", "{ Ok(1) }, max = 3", "async", "move", "static || {}", "unsafe {}", "|| -> T f",
    "for<'a> || {}", "|| -> Result<T, RetryError<E>> { Ok(1) }", "async {} .await", "{ 1 } + 2", "const { 1 }", "#[a] { 1 }",
];

pub(crate) const BEFORE_BLOCK: &[&str] = &[
    "", "||", "|| -> Result<T, E>", "async", "async move", "async ||", "async move || -> Result<T, RetryError<E>>", "move ||",
    "|| -> Option<T>", "|_|", "on(_),", "max = 2, async",
];

pub(crate) const TYPES: &[&str] = &[
    "enum E { #[retry(transient)] A, #[retry(permanent)] B(u8), #[retry(throttled, after = 0)] C(Duration) }",
    "#[retry(default = permanent)] enum E<T> { A, #[retry(inherit)] B { source: T }, #[retry(refused, after = wait)] C { wait: Option<Duration> } }",
    "#[retry(transient)] struct S;", "#[retry(inherit)] struct S(io::Error);", "#[retry(throttled, after = d)] struct S<'a, T: B> where T: C { d: &'a T }",
    "union U { a: u8 }", "enum E {}", "enum E { A }", "#[retry(crate = ::again)] enum E { #[retry(forbidden)] A = 1 }",
    "#[retry(default = inherit)] enum E { A(u8, u8) }", "struct S", "#[retry] struct S;", "#[retry = \"x\"] struct S;",
    "enum E { #[retry(transient, permanent)] A, #[retry(after = 0)] B, #[retry(inherit)] C }",
    "#[retry(transient, after = 99999999999999999999)] struct S(u8);", "#[retry(transient, after = \"r#type\")] struct S { r#type: Duration }",
    "#[retry(transient, after = 0)] struct S { x: Duration }", "enum E<const N: usize = 3, T = u8> { #[retry(inherit)] A([T; N]) }",
];

pub(crate) const VERDICTS: &[&str] = &[
    "#[retry(transient)]", "#[retry(inherit)]", "#[retry(throttled, after = 0)]", "#[retry(refused, after = wait)]",
    "#[retry(default = permanent)]", "", "#[retry()]", "#[retry(\"transient\")]", "#[retry(transient = 1)]",
    "#[retry(after = 0, transient)]", "#[retry(transient, after = -1)]", "#[retry(transient, after = 1u8)]",
    "#[retry(transient)] #[retry(inherit)]", "#[retry(crate = x, transient)]", "#[retry(after = \"a b\", transient)]",
    "#[retry(after = \"\", refused)]", "#[retry(transient, after = self)]", "#[retry(transient, after = _)]",
    "#[retry(refused, after = 'a')]", "#[retry(transient(x))]", "#[reattempt::retry(transient)]",
];

pub(crate) const FIELDS: &[&str] = &[
    "", "(u8)", "(Duration)", "{ wait: Duration }", "(u8, u8)", "{}", "()", "{ r#type: T, source: Box<dyn Error> }",
    "(#[from] io::Error)", "(Option<Duration>) = 3", "{ #[source] inner: Self }", "(&'static str)", ", A",
];
