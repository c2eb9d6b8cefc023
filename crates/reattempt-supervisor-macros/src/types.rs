//! Questions about types that their tokens can answer.
//!
//! ```text
//! Result<&str, E>   ->   value: &str, which borrows
//! ```

use proc_macro2::Span;
use syn::Type;

/// Returns the `T` of `Result<T, E>`.
pub(crate) fn value(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// Returns the type without the groups that macros put around it.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        _ => ty,
    }
}

/// Returns where a type borrows: at a reference, or at a lifetime other than `'static`.
pub(crate) fn find_borrow(ty: &Type) -> Option<Span> {
    struct Found(Option<Span>);
    impl syn::visit::Visit<'_> for Found {
        fn visit_type_reference(&mut self, ty: &syn::TypeReference) {
            self.0.get_or_insert(ty.and_token.span);
        }

        fn visit_lifetime(&mut self, lifetime: &syn::Lifetime) {
            if lifetime.ident != "static" {
                self.0.get_or_insert(lifetime.span());
            }
        }

        // The lifetimes of a function pointer are not borrows.
        fn visit_type_fn_ptr(&mut self, _: &syn::TypeFnPtr) {}
    }
    let mut found = Found(None);
    syn::visit::Visit::visit_type(&mut found, ty);
    found.0
}

/// Returns where a type has a `&mut`.
pub(crate) fn find_unique(ty: &Type) -> Option<Span> {
    struct Found(Option<Span>);
    impl syn::visit::Visit<'_> for Found {
        fn visit_type_reference(&mut self, ty: &syn::TypeReference) {
            if ty.mutability.is_some() {
                self.0.get_or_insert(ty.and_token.span);
            }
            syn::visit::visit_type_reference(self, ty);
        }

        fn visit_type_fn_ptr(&mut self, _: &syn::TypeFnPtr) {}
    }
    let mut found = Found(None);
    syn::visit::Visit::visit_type(&mut found, ty);
    found.0
}
