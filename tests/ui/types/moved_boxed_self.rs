use reattempt::retry;

#[derive(Clone)]
struct Client(String);

fn close(_: Box<Client>) {}

impl Client {
    fn finished(self: Box<Self>) -> String {
        self.0
    }

    #[retry(max = 3, on(_))]
    fn fetch(self: Box<Self>) -> Result<String, String> {
        Ok(self.finished())
    }

    #[retry(max = 3, on(_))]
    async fn fetch_later(self: Box<Self>) -> Result<(), String> {
        close(self);
        Ok(())
    }
}

fn main() {
    let _ = Box::new(Client(String::new())).fetch();
    let _ = Box::new(Client(String::new())).fetch_later();
}
