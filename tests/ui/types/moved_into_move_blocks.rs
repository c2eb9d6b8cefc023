//! A closure or a block that is `move` takes what it names, however it uses that; a `&mut` is taken by a generic parameter.

use reattempt::retry;

#[retry(max = 3, on(_))]
async fn first(bytes: Vec<u8>) -> Result<u8, String> {
    let first = tokio::spawn(async move { bytes[0] });
    first.await.map_err(|error| error.to_string())
}

#[retry(max = 3, on(_))]
async fn second(pair: (String, u8)) -> Result<usize, String> {
    let size = tokio::task::spawn_blocking(move || pair.0.len());
    size.await.map_err(|error| error.to_string())
}

struct Sink<W>(W);

struct Sending<W> {
    sink: W,
    byte: u8,
}

impl<W> Sending<&mut Sink<W>> {
    async fn sent(self) -> Result<u8, String> {
        let _ = &mut self.sink.0;
        Ok(self.byte)
    }
}

impl<W> Sink<W> {
    #[retry(max = 3, on(_))]
    async fn send(&mut self, byte: u8) -> Result<u8, String> {
        Sending { sink: self, byte }.sent().await
    }
}

async fn copy<R: std::io::Read>(mut reader: R) -> Result<String, String> {
    std::io::read_to_string(&mut reader).map_err(|error| error.to_string())
}

#[retry(max = 3, on(_))]
async fn read<R: std::io::Read>(reader: &mut R) -> Result<String, String> {
    let read = copy(reader).await?;
    Ok(read)
}

#[retry(max = 3, on(_))]
async fn read_at_once(reader: &mut std::fs::File) -> Result<String, String> {
    copy(reader).await
}

#[derive(Clone, Copy)]
struct Id;

fn execute<C: Clone>(_: Id, _: &str, _: impl Sized) -> Result<(), C> {
    Ok(())
}

#[retry(max = 3, on(_))]
fn beside_a_copy(id: Id, connection: &mut Vec<u8>) -> Result<(), String> {
    execute(id, "x", connection)
}

fn sent(_: Vec<u8>) -> impl Future<Output = Result<u8, String>> {
    std::future::ready(Ok(3))
}

struct Message(Vec<u8>);

impl Message {
    fn encoded(self) -> Vec<u8> {
        self.0
    }
}

#[retry(max = 3, on(_))]
fn made_anew(message: Message) -> impl Future<Output = Result<u8, String>> {
    sent(message.encoded())
}

#[async_trait::async_trait]
trait Perform: Sized {
    async fn perform(self) -> Result<u8, String>;
}

struct Work(u8);

impl Work {
    async fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn finished(self) -> u8 {
        self.0
    }
}

#[async_trait::async_trait]
impl Perform for Work {
    #[retry(max = 3, on(_))]
    async fn perform(mut self) -> Result<u8, String> {
        self.begin().await?;
        Ok(self.finished())
    }
}

fn main() {}
