//! `retry_block!`: one part of a function is retried, the rest runs once.
//!
//! `cargo run --example block`

use reattempt::retry_block;

#[derive(Debug, PartialEq)]
enum Fault {
    Busy,
    WornOut,
}

/// Busy at the first reading, the fourth, the seventh, ...
#[derive(Default)]
struct Sensor {
    readings: u32,
}

impl Sensor {
    fn read(&mut self) -> Result<f64, Fault> {
        self.readings += 1;
        match self.readings {
            1000.. => Err(Fault::WornOut),
            n if n % 3 == 1 => Err(Fault::Busy),
            n => Ok(f64::from(n) + 20.0),
        }
    }

    async fn read_later(&mut self) -> Result<f64, Fault> {
        tokio::task::yield_now().await;
        self.read()
    }
}

fn report(sensor: &mut Sensor) -> Result<String, Fault> {
    let celsius = retry_block!(base = "5ms", on(Fault::Busy), { sensor.read() })?;
    Ok(format!("{celsius} °C"))
}

/// Two readings, one right after the other: if the second fails, both are
/// taken again. `?` and `return` end the attempt, not the function; the closure
/// names its type, so that `?` knows where to go.
async fn average(sensor: &mut Sensor) -> Result<String, Fault> {
    let sum = retry_block!(
        base = "5ms",
        on(Fault::Busy),
        async || -> Result<f64, Fault> {
            let first = sensor.read_later().await?;
            Ok(first + sensor.read_later().await?)
        }
    );
    Ok(format!("{} °C", sum.await? / 2.0))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut sensor = Sensor::default();

    let now = report(&mut sensor);
    println!("{now:?} after {} readings", sensor.readings);
    assert_eq!(now, Ok("22 °C".to_owned()));

    let average = average(&mut sensor).await;
    println!("{average:?} after {} readings", sensor.readings);
    assert_eq!(average, Ok("25.5 °C".to_owned()));
    assert_eq!(sensor.readings, 6);
}
