use reattempt::retry;

struct Client;

#[retry(backoff = "none", on(_))]
impl Client {
    fn get(&self) -> Result<u32, u8> {
        Ok(1)
    }

    #[cfg_attr(all(), retry(never))]
    fn pay(&self) -> Result<u32, u8> {
        Ok(2)
    }
}

fn main() {
    let _ = (Client.get(), Client.pay());
}
