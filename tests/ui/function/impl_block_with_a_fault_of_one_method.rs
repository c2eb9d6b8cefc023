use reattempt::retry;

struct Shop;

#[retry(max = 3, on(_), clone(order))]
impl Shop {
    fn send(&self, order: String) -> Result<String, String> {
        Ok(order)
    }

    fn ask(&self) -> Result<u32, String> {
        Ok(1)
    }
}

struct Bank;

#[retry(max = 3, on(_), timeout = "1s")]
impl Bank {
    async fn pay(&self) -> Result<u32, reattempt::RetryError<String>> {
        Ok(1)
    }

    fn ask(&self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    let _ = Shop.send(String::new());
    let _ = Shop.ask();
    let _ = Bank.pay();
    let _ = Bank.ask();
}
