//! For programs.

use std::error::Error;

use super::Listing;

pub(super) fn text(listing: &Listing) -> Result<String, Box<dyn Error>> {
    Ok(format!("{}\n", serde_json::to_string_pretty(listing)?))
}
