//! A file that lies elsewhere; its modules lie beside it.

pub mod token;

//~ api
#[reattempt::retry(on(_))]
pub fn version() -> Result<u8, ()> {
    token::fresh()
}
