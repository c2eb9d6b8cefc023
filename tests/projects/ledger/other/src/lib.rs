//! Somebody else's macro of the same name.

use proc_macro::TokenStream;

/// Does nothing: `#[retry(max = 99)]` here is not ours.
#[proc_macro_attribute]
pub fn retry(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// A derive whose attribute is called `retry`, too.
#[proc_macro_derive(Fallible, attributes(retry))]
pub fn fallible(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
