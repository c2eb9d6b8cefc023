//! What something would cost.

use shop_clients::catalogue::Catalogue;
use shop_common::prelude::*;

pub struct Quotes<C = Catalogue> {
    pub catalogue: C,
}

impl Quotes {
    //~ quote
    #[retry(max = 3, base = "10ms", jitter = "none")]
    pub async fn quote(&self, article: u32) -> Result<u32, Fault> {
        Ok(self.catalogue.price(article).await? * 2)
    }
}
