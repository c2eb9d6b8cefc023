//! Answers of async blocks that borrow a `&mut` of the function around them.

use std::future::Future;
use std::io::Error;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reattempt::retry;

struct Row<'a>(&'a mut Vec<u8>);

struct Reader {
    page: Vec<u8>,
    name: String,
}

impl Reader {
    async fn fill(&mut self) -> Result<(), Error> {
        self.page.push(1);
        Ok(())
    }

    async fn row(&mut self) -> Result<Row<'_>, Error> {
        Ok(Row(&mut self.page))
    }

    #[retry]
    fn boxed<'a>(&'a mut self) -> BoxFuture<'a, Result<Row<'a>, Error>> {
        async move { Ok(Row(&mut self.page)) }.boxed()
    }

    #[retry]
    fn pinned<'a>(&'a mut self) -> BoxFuture<'a, Result<&'a str, Error>> {
        let end = self.name.len();
        Box::pin(async move {
            self.fill().await?;
            Ok(&self.name[..end])
        })
    }

    #[retry]
    fn opaque(&mut self) -> impl Future<Output = Result<Row<'_>, Error>> {
        async move { self.row().await }
    }
}

fn main() {
    let _ = Reader::opaque;
}
