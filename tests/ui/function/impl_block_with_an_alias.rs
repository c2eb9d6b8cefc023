use reattempt::retry;

type Answer = std::io::Result<u32>;

struct Client;

#[retry(max = 2)]
impl Client {
    fn plain(&self) -> std::io::Result<u32> {
        Ok(1)
    }

    fn behind_an_alias(&self) -> Answer {
        Ok(2)
    }

    #[retry(never)]
    fn once(&self) -> Answer {
        Ok(3)
    }
}

fn main() {
    let _ = (Client.plain(), Client.behind_an_alias(), Client.once());
}
