//! How the next attempt can have a parameter that the body moves, as far as the signature tells.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{
    GenericArgument, Ident, PathArguments, ReturnType, Signature, Token, Type, TypeParamBound,
    WherePredicate,
};

use super::bounds;
use crate::item::{has_word, is_one_letter, names};

/// Who can change the signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetBy {
    /// The function alone.
    Function,
    /// The trait that it implements.
    Trait,
    /// One of them: an attribute on a method does not see the `impl` block around it.
    Unknown,
}

impl SetBy {
    /// By the looks of a function that stands alone, or whose `impl` block is not seen.
    pub fn of(signature: &Signature, is_public: bool) -> Self {
        let mut lifetimes = signature.generics.lifetimes();
        if lifetimes.any(|it| it.lifetime.ident == "async_trait") {
            return Self::Trait;
        }
        let is_method = has_word(&signature.to_token_stream(), "Self");
        if is_public || !(is_method || signature.receiver().is_some()) {
            return Self::Function;
        }
        if names_type_of_trait(signature) {
            return Self::Trait;
        }
        Self::Unknown
    }

    /// By what stands in front of the braces of an `impl` block.
    pub fn of_block(head: &TokenStream) -> Self {
        match syn::parse2::<syn::ItemImpl>(quote::quote!(#head {})) {
            Ok(block) if block.trait_.is_none() => Self::Function,
            Ok(_) => Self::Trait,
            Err(_) => Self::Unknown,
        }
    }
}

/// What gives the next attempt a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// `clone(x)`: the type is `Clone`, or may be.
    Clone,
    /// `clone(x)`, once these types have the bound `Clone`.
    Bound(Vec<String>),
    /// The same, if the type that holds these has copies then.
    BoundInside(Vec<String>),
    /// `clone(x)`, once an `impl Trait` has the bound `Clone`.
    ImplTrait,
    /// Another type in place of this one.
    CalledAgain(String, String),
    /// The same, and a reference of it where it is passed on.
    PassedAgain(String, String),
    /// What makes a future in place of the future.
    MadeAgain(String, String),
    /// A reference in the body: `&make`, or `&mut make`.
    Reference(&'static str),
    /// A mutable reference of a mutable reference.
    Reborrowed,
    /// The mutable reference in an `Option`.
    Inside,
    /// That in a `Pin`.
    Pinned,
    /// A mutable reference in the body: what reads or writes goes on where it stopped.
    InPlace,
    /// The same for a method, which takes the reference: how it is called.
    InPlaceCalled(String),
    /// A reference as its type: a box of a trait has no copies.
    Borrowed,
    /// What `self` needs.
    Receiver,
    /// Nothing here: a caller makes it anew.
    Caller,
    /// A variable in front of the block that is retried: a copy of it in the block.
    InFront,
}

impl Way {
    /// By the type of a parameter.
    pub(super) fn of(signature: &Signature, ty: &Type) -> Self {
        let Some(found) = names_of_bounds(signature, ty) else {
            return Self::of_type(signature, ty);
        };
        let name = written(ty);
        let has = |word| found.iter().any(|name| name == word);
        if has("Clone") || has("Copy") {
            return Self::Clone;
        }
        let is_impl = matches!(ty, Type::ImplTrait(_));
        let of = |what: &str| {
            if is_impl {
                format!("impl {what}")
            } else {
                format!("{name}: {what}")
            }
        };
        let is_static = is_static(bounds(signature, ty).to_token_stream());
        if found.iter().any(|it| has_one(USED_ONCE, it)) {
            return Self::Caller;
        }
        // Few futures copy.
        if has("Future") {
            let is_named = |it: &Ident| *it == name;
            // What makes one borrows for as long as it runs, and is asked in async code.
            if is_static
                || !is_async(signature)
                || has_path_from(&signature.to_token_stream(), &is_named)
            {
                return Self::Caller;
            }
            return Self::MadeAgain(of("Future<..>"), of("AsyncFnMut() -> .."));
        }
        if has("FnOnce") {
            let of = |kind| of(&format!("{kind}(..)"));
            return Self::CalledAgain(of("FnOnce"), of("FnMut"));
        }
        // An answer that has the type itself takes no reference to it.
        let is_kept = is_static || is_in_answer(signature, ty);
        if (has("FnMut") || has("AsyncFnMut")) && !is_kept {
            return Self::Reference("&mut ");
        }
        if has("Fn") && !is_kept || is_passed_on(signature, ty, &found) {
            return Self::Reference("&");
        }
        if reads_in_place(signature, ty) {
            let is_of_reference = |it: &Ident| {
                let name = it.to_string();
                let name = name.strip_suffix("Ext").unwrap_or(&name);
                IN_PLACE.contains(&name) || AUTO.contains(&name)
            };
            // A reference reads in async code only if what it points to is `Unpin`.
            let is_pinned =
                found.iter().any(|it| it.to_string().starts_with("Async")) && !has("Unpin");
            let goes_on = !is_kept && !is_pinned && found.iter().all(is_of_reference);
            return if goes_on { Self::InPlace } else { Self::Caller };
        }
        if is_impl {
            Self::ImplTrait
        } else {
            Self::Bound(vec![name])
        }
    }

    /// By the type of a `self` that may be moved: `Arc<Self>`, `Pin<&mut Self>`.
    pub(super) fn of_receiver(ty: &Type) -> Option<Self> {
        let Type::Path(path) = ty else {
            return None;
        };
        let last = path.path.segments.last()?;
        match &*last.ident.to_string() {
            "Arc" | "Rc" => Some(Self::Clone),
            "Box" => Some(Self::Receiver),
            "Pin" if holds_unique(&last.arguments) => Some(Self::Pinned),
            _ => None,
        }
    }

    /// By a type that has no bounds of its own.
    fn of_type(signature: &Signature, ty: &Type) -> Self {
        let path = match ty {
            Type::Path(path) => path,
            Type::Reference(it) if it.mutability.is_some() => return Self::Reborrowed,
            _ => return Self::Clone,
        };
        let arguments = path.path.segments.iter().flat_map(|segment| {
            let arguments = match &segment.arguments {
                PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
                _ => None,
            };
            arguments.into_iter().flatten()
        });
        let name = path.path.segments.last().map(|it| it.ident.to_string());
        let name = name.unwrap_or_default();
        let types = arguments.filter_map(|it| match it {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        let types: Vec<_> = types.collect();
        match (&*name, path.path.segments.last()) {
            ("Option", Some(last)) if holds_unique(&last.arguments) => return Self::Inside,
            ("Pin", Some(last)) if holds_unique(&last.arguments) => return Self::Pinned,
            _ => {}
        }
        // A future that has failed cannot be awaited again.
        let tokens = path.to_token_stream();
        let is_called = ["Fn", "FnMut", "FnOnce"]
            .iter()
            .any(|it| has_word(&tokens, it));
        let has_future = has_word(&tokens, "Future") && !is_called;
        let held = match &*name {
            "BoxFuture" | "LocalBoxFuture" => Some(".."),
            "Box" if has_future => Some("dyn Future<..>"),
            "Pin" if has_future => Some("Box<dyn Future<..>>"),
            _ => None,
        };
        if let Some(held) = held {
            if !is_async(signature) {
                return Self::Caller;
            }
            let maker = "impl AsyncFnMut() -> ..".to_owned();
            return Self::MadeAgain(format!("{name}<{held}>"), maker);
        }
        let object = types.iter().find_map(|it| match it {
            Type::TraitObject(object) => Some(object),
            _ => None,
        });
        if let Some(object) = object.filter(|_| name == "Box") {
            let of = |kind: &str| format!("Box<dyn {kind}(..)>");
            let is_once = names_in(&object.bounds).any(|name| name == "FnOnce");
            let mut names = names_in(&object.bounds);
            return if is_once {
                Self::CalledAgain(of("FnOnce"), of("FnMut"))
            } else if names.any(|name| has_one(IN_PLACE, name)) {
                Self::Borrowed
            } else {
                Self::Caller
            };
        }
        // `V::Value`, which is what the generic parameter `V` makes of it.
        let first = path.path.segments.first();
        let is_generic = path.qself.is_some()
            || path.path.segments.len() > 1
                && first.is_some_and(|first| {
                    let mut params = signature.generics.type_params();
                    is_one_letter(&first.ident) || params.any(|it| it.ident == first.ident)
                });
        if is_generic && !bounds_in_where(signature, ty).any(|name| name == "Clone") {
            return Self::Bound(vec![written(ty)]);
        }
        if IN_PLACE_TYPES.contains(&&*name) && !is_in_answer(signature, ty) {
            return Self::InPlace;
        }
        // `Options<T>`, which most types are not without `T: Clone`.
        let lacks_clone = |ty: &&&Type| {
            names_of_bounds(signature, ty)
                .is_some_and(|found| !found.iter().any(|name| name == "Clone" || name == "Copy"))
        };
        let lacking: Vec<_> = types.iter().filter(lacks_clone).collect();
        let is_hidden = |it: &&&Type| matches!(it, Type::ImplTrait(_));
        if lacking.is_empty() || lacking.iter().any(is_hidden) || SHARED.contains(&&*name) {
            return Self::Clone;
        }
        let lacking = lacking.into_iter().map(written).collect();
        if HELD.contains(&&*name) {
            Self::Bound(lacking)
        } else {
            Self::BoundInside(lacking)
        }
    }

    /// Whether only another signature makes it possible.
    pub(super) fn changes_signature(&self) -> bool {
        matches!(
            self,
            Self::Bound(_)
                | Self::BoundInside(_)
                | Self::ImplTrait
                | Self::CalledAgain(..)
                | Self::PassedAgain(..)
                | Self::MadeAgain(..)
                | Self::Borrowed
        )
    }

    /// Whether it may not compile: what takes the parameter may need its type, or something that outlives the attempt.
    pub(super) fn may_fail(&self) -> bool {
        matches!(
            self,
            Self::Receiver | Self::InPlace | Self::InPlaceCalled(_) | Self::InFront
        )
    }

    /// Whether each attempt gets a copy, if its type has copies.
    pub fn is_copy_of_type(&self) -> bool {
        matches!(self, Self::Clone | Self::Receiver)
    }

    /// The same, if need be with a bound.
    pub fn is_copy(&self) -> bool {
        matches!(
            self,
            Self::Clone | Self::Bound(_) | Self::BoundInside(_) | Self::ImplTrait | Self::Receiver
        )
    }
}

/// Whether the type behind `<` is a mutable reference.
fn holds_unique(arguments: &PathArguments) -> bool {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return false;
    };
    let is_unique = |it: &GenericArgument| matches!(it, GenericArgument::Type(Type::Reference(it)) if it.mutability.is_some());
    arguments.args.iter().any(is_unique)
}

/// Traits of a mutable reference to what has them, beside those.
const AUTO: &[&str] = &["Debug", "Send", "Sync", "Unpin"];

/// Traits of what is used once by design.
const USED_ONCE: &[&str] = &[
    "DeserializeSeed",
    "Deserializer",
    "EnumAccess",
    "MapAccess",
    "SeqAccess",
    "Serializer",
    "VariantAccess",
    "Visitor",
];

/// Traits that a mutable reference has, too.
const IN_PLACE: &[&str] = &[
    "Read",
    "Write",
    "Seek",
    "BufRead",
    "AsyncRead",
    "AsyncWrite",
    "AsyncSeek",
    "AsyncBufRead",
];

/// What the names of other traits end with whose values read or write: few of those have copies.
const READING: &[&str] = &["File", "Reader", "Stream", "Writer"];

/// Whether a generic parameter reads or writes, by its bounds.
fn reads_in_place(signature: &Signature, ty: &Type) -> bool {
    let found = names_of_bounds(signature, ty).unwrap_or_default();
    found.iter().any(|it| {
        let name = it.to_string();
        has_one(IN_PLACE, it) || READING.iter().any(|end| name.ends_with(end))
    })
}

/// Whether a name is one of these.
fn has_one(names: &[&str], name: &Ident) -> bool {
    names.iter().any(|it| name == it)
}

/// Whether a function is async, or returns a future.
fn is_async(signature: &Signature) -> bool {
    let answer = signature.output.to_token_stream();
    let names = ["BoxFuture", "Future", "LocalBoxFuture"];
    signature.asyncness.is_some() || names.iter().any(|it| has_word(&answer, it))
}

/// Traits that a reference has if its value has them.
const OF_REFERENCES: &[&str] = &["AsRef", "Debug", "Display", "Serialize", "ToSocketAddrs"];

/// Whether a reference does as well: all that is known of the type holds for one, and the answer does not name it.
fn is_passed_on(signature: &Signature, ty: &Type, found: &[Ident]) -> bool {
    let all = bounds(signature, ty).to_token_stream();
    let has_lifetime = all
        .into_iter()
        .any(|it| matches!(it, TokenTree::Punct(it) if it.as_char() == '\''));
    !found.is_empty()
        && found.iter().all(|it| has_one(OF_REFERENCES, it))
        && !has_lifetime
        && !is_in_answer(signature, ty)
}

/// Whether `'static` is one of the bounds: neither of what a closure takes, nor of what it returns.
fn is_static(bounds: TokenStream) -> bool {
    let (mut before, mut last) = (' ', ' ');
    bounds.into_iter().any(|token| {
        let is_word = matches!(&token, TokenTree::Ident(word) if word == "static");
        let found = is_word && last == '\'' && !matches!(before, '&' | '<' | ',');
        before = last;
        last = match token {
            TokenTree::Punct(sign) => sign.as_char(),
            _ => ' ',
        };
        found
    })
}

/// Whether an answer has a trait object that may hold a borrow: any other one holds no value of such a type.
fn hides_values(output: &ReturnType) -> bool {
    struct Objects(bool);
    impl<'ast> Visit<'ast> for Objects {
        fn visit_type_trait_object(&mut self, object: &'ast syn::TypeTraitObject) {
            self.0 |= (object.bounds.iter())
                .any(|bound| matches!(bound, TypeParamBound::Lifetime(it) if it.ident != "static"));
        }
    }
    let mut objects = Objects(false);
    objects.visit_return_type(output);
    objects.0
}

/// Whether the answer names the type, or hides its own, and may be the value.
fn is_in_answer(signature: &Signature, ty: &Type) -> bool {
    let answer = signature.output.to_token_stream();
    if has_word(&answer, "impl") || hides_values(&signature.output) {
        return true;
    }
    let name = match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    // What has a bound such as `Reader<R>` takes an `R` alone.
    let is_in_bound = |name: &Ident| {
        let mut params = signature.generics.type_params();
        let clauses = signature.generics.where_clause.iter();
        let mut predicates = clauses.flat_map(|clause| &clause.predicates);
        params.any(|it| it.ident != *name && names(&it.bounds.to_token_stream(), name))
            || predicates.any(|it| match it {
                WherePredicate::Type(it) => names(&it.bounds.to_token_stream(), name),
                _ => false,
            })
            || signature.inputs.iter().any(|it| {
                let input = it.to_token_stream();
                has_word(&input, "impl") && names(&input, name)
            })
    };
    name.is_some_and(|last| names(&answer, &last.ident) || is_in_bound(&last.ident))
}

/// Whether a method names a type that only a trait gives it: `Self::Value`, or `D::Error` in its answer.
fn names_type_of_trait(signature: &Signature) -> bool {
    let answer = signature.output.to_token_stream();
    let mut params = signature.generics.type_params();
    has_path_from(&signature.to_token_stream(), &|name| name == "Self")
        || params.any(|param| has_path_from(&answer, &|name| *name == param.ident))
}

/// Whether `first::` stands among the tokens, with such a `first`.
fn has_path_from(tokens: &TokenStream, is_first: &impl Fn(&Ident) -> bool) -> bool {
    let mut colons = None;
    tokens.clone().into_iter().any(|token| {
        let before = colons.take();
        match token {
            TokenTree::Ident(name) if is_first(&name) => colons = Some(0),
            TokenTree::Punct(colon) if colon.as_char() == ':' => match before {
                Some(0) => colons = Some(1),
                Some(_) => return true,
                None => {}
            },
            TokenTree::Group(group) => return has_path_from(&group.stream(), is_first),
            _ => {}
        }
        false
    })
}

/// Types of the standard library and of tokio that read or write, and have no copies.
const IN_PLACE_TYPES: &[&str] = &["BufReader", "BufWriter", "File", "TcpStream", "UnixStream"];

/// Types that have copies if what they hold has.
const HELD: &[&str] = &[
    "BTreeMap", "BTreeSet", "Box", "Cell", "HashMap", "HashSet", "Option", "Poll", "RefCell",
    "Result", "Vec", "VecDeque", "Wrapping",
];

/// Types whose copies need none of what they hold.
const SHARED: &[&str] = &[
    "Arc",
    "PhantomData",
    "Rc",
    "Sender",
    "UnboundedSender",
    "Weak",
];

type Bounds = Punctuated<TypeParamBound, Token![+]>;

/// The last names of some bounds.
fn names_in(bounds: &Bounds) -> impl Iterator<Item = &Ident> {
    bounds.iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => Some(&bound.path.segments.last()?.ident),
        _ => None,
    })
}

/// Those that a `where` clause gives a type.
fn bounds_in_where<'a>(signature: &'a Signature, ty: &'a Type) -> impl Iterator<Item = &'a Ident> {
    let predicates = signature.generics.where_clause.iter();
    let predicates = predicates.flat_map(|clause| &clause.predicates);
    let found = predicates.filter_map(move |predicate| match predicate {
        WherePredicate::Type(predicate) if predicate.bounded_ty == *ty => Some(&predicate.bounds),
        _ => None,
    });
    found.flat_map(names_in)
}

/// Those of a generic parameter of the function, or of an `impl Trait`.
fn names_of_bounds(signature: &Signature, ty: &Type) -> Option<Vec<Ident>> {
    let name = match ty {
        Type::ImplTrait(bounds) => return Some(names_in(&bounds.bounds).cloned().collect()),
        Type::Path(path) => path.path.get_ident()?,
        _ => return None,
    };
    let mut params = signature.generics.type_params();
    let param = params.find(|param| param.ident == *name)?;
    let all = names_in(&param.bounds).chain(bounds_in_where(signature, ty));
    Some(all.cloned().collect())
}

/// A path as it is written.
pub(super) fn written(ty: &impl ToTokens) -> String {
    let text = ty.to_token_stream().to_string();
    let text = text.replace(" :: ", "::").replace(":: ", "::");
    text.replace("< ", "<")
        .replace(" <", "<")
        .replace(" >", ">")
}
