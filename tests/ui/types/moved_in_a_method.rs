//! A trait may set the signature, and a receiver has its own fixes.

use reattempt::retry;

trait Painter {
    fn visit(self) -> Result<String, String>;
}

trait Reader {
    fn read<V: Painter>(&self, painter: V) -> Result<String, String>;
    fn close(self) -> Result<String, String>;
}

struct Known(String);

#[retry(max = 2, on(_))]
impl Reader for Known {
    fn read<V: Painter>(&self, painter: V) -> Result<String, String> {
        send(painter)
    }

    fn close(self) -> Result<String, String> {
        Ok(self.0)
    }
}

struct Alone(String);

impl Reader for Alone {
    #[retry(max = 2, on(_))]
    fn read<V: Painter>(&self, painter: V) -> Result<String, String> {
        send(painter)
    }

    #[retry(max = 2, on(_))]
    fn close(self) -> Result<String, String> {
        Ok(self.0)
    }
}

impl Alone {
    #[retry(max = 2, on(_))]
    pub fn public<V: Painter>(&self, painter: V) -> Result<String, String> {
        send(painter)
    }

    #[retry(max = 2, on(_))]
    pub fn public_close(self) -> Result<String, String> {
        Ok(self.0)
    }

    fn into_page(self, url: &str) -> String {
        self.0 + url
    }

    fn page_of(self) -> String {
        self.0
    }

    #[retry(max = 2, on(_))]
    fn one_of_two(self, other: Known) -> Result<String, String> {
        Ok(self.into_page(&other.into_name()))
    }
}

#[retry(max = 2, on(_))]
impl Alone {
    fn inherent<V: Painter>(&self, painter: V) -> Result<String, String> {
        send(painter)
    }
}

impl Known {
    fn into_name(self) -> String {
        self.0
    }
}

fn send<V: Painter>(painter: V) -> Result<String, String> {
    painter.visit()
}

fn main() {
    let _ = Alone(String::new()).page_of();
}
