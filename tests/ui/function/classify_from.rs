use std::io;

use reattempt::http::RequestError;
use reattempt::{Classify, GaveUp};

type Response = http::Response<()>;
type Failure = RequestError<io::Error, Response>;

#[derive(Classify)]
enum Behind {
    #[retry(from)]
    AnAlias(Failure),
    #[retry(from = Failure)]
    ItsAlias(Failure),
    #[retry(from)]
    AnotherError(io::Error),
    #[retry(from)]
    Several(RequestError<io::Error, Response>, u8),
    #[retry(from, inherit)]
    TwoVerdicts(RequestError<io::Error, Response>),
    #[retry(from, after = 0)]
    Delayed(RequestError<u8, u8>),
}

#[derive(Classify)]
#[retry(default = from)]
enum Twice {
    #[retry(from)]
    Shop(RequestError<io::Error, Response>),
    #[retry(from)]
    Bank(RequestError<GaveUp, Response>),
    #[retry(from)]
    Post(RequestError<io::Error, http::Response<u8>>),
}

#[derive(Classify)]
enum Made {
    #[retry(from)]
    Shop(RequestError<io::Error, Response>),
}

impl From<io::Error> for Made {
    fn from(error: io::Error) -> Self {
        Self::Shop(RequestError::Transport(error))
    }
}

#[derive(Classify)]
enum WrongAlias {
    #[retry(from = RequestError<io::Error, u8>)]
    Shop(Failure),
}

fn main() {}
