//! Methods of one name, by the names of their operations. `cargo retry list` reads this file, too.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unused_self,
    reason = "only the names of the methods are looked at"
)]

use reattempt::retry;

pub struct Client<T>(pub T);

pub struct Other<'a>(pub &'a str);

pub trait Api {
    #[retry(max = 2, backoff = "none", on(_))]
    fn default(&self) -> Result<(), String> {
        Err(String::new())
    }

    fn get(&self) -> Result<(), String>;
}

impl<T: Copy> Client<T> {
    #[retry(max = 2, backoff = "none", on(_))]
    pub fn get(&self) -> Result<(), String> {
        Err(String::new())
    }

    #[retry(max = 2, backoff = "none", on(_))]
    pub async fn later(&self) -> Result<(), String> {
        Err(String::new())
    }

    #[retry(max = 2, backoff = "none", on(_))]
    pub fn connect() -> Result<Self, String> {
        Err(String::new())
    }
}

#[retry(max = 2, backoff = "none", on(_))]
impl Other<'_> {
    pub fn get(&self) -> Result<(), String> {
        Err(String::new())
    }
}

impl Api for Other<'_> {
    #[retry(max = 2, backoff = "none", on(_))]
    fn get(&self) -> Result<(), String> {
        Err(String::new())
    }
}

impl Api for [u8] {
    #[retry(max = 2, backoff = "none", on(_))]
    fn get(&self) -> Result<(), String> {
        Err(String::new())
    }
}

impl<T: Api> Api for &T {
    #[retry(max = 2, backoff = "none", on(_))]
    fn get(&self) -> Result<(), String> {
        Err(String::new())
    }
}

impl Api for &mut Client<Vec<u8>> {
    #[retry(max = 2, backoff = "none", on(_))]
    fn get(&self) -> Result<(), String> {
        Err(String::new())
    }
}

pub mod r#try {
    use super::retry;

    pub struct Plain;

    impl Plain {
        #[retry(max = 2, backoff = "none", on(_))]
        pub fn r#match(&self) -> Result<(), String> {
            #[retry(max = 2, backoff = "none", on(_))]
            fn inside() -> Result<(), String> {
                Err(String::new())
            }
            inside()
        }
    }

    #[retry(max = 2, backoff = "none", on(_))]
    pub fn get() -> Result<(), String> {
        Err(String::new())
    }
}
