//! One flood of tasks on two threads of tokio, and what it takes.

use std::error::Error;
use std::fs;
use std::mem::size_of_val;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::time::sleep;

use super::request::{Request, answer_count, most_waiting};
use crate::allocations::most_held;

pub(super) type Run = fn(tasks: u32, weighed: bool) -> Result<Figures, Box<dyn Error>>;

/// What one flood took: for each task, but for the time until all are done.
pub(super) struct Figures {
    pub(super) future: f64,
    /// Bytes that are allocated at the worst moment; 0 in a run that is timed, which counting would disturb.
    pub(super) held: f64,
    /// Bytes that the system gave the process.
    pub(super) resident: f64,
    /// Microseconds of processor time.
    pub(super) worked: f64,
    pub(super) seconds: f64,
}

impl Figures {
    pub(super) fn to_line(&self) -> String {
        let Self {
            future,
            held,
            resident,
            worked,
            seconds,
        } = self;
        format!("{future} {held} {resident} {worked} {seconds}")
    }

    pub(super) fn from_line(line: &str) -> Result<Self, Box<dyn Error>> {
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let [future, held, resident, worked, seconds] = numbers?[..] else {
            return Err(format!("no figures: {line}").into());
        };
        Ok(Self {
            future,
            held,
            resident,
            worked,
            seconds,
        })
    }
}

/// Spawns the futures themselves: nothing stands between them and tokio.
pub(super) fn flood<F>(
    tasks: u32,
    weighed: bool,
    call: fn(&'static Request) -> F,
) -> Result<Figures, Box<dyn Error>>
where
    F: Future<Output: Send> + Send + 'static,
{
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()?;
    let requests: Vec<_> = (0..tasks).map(|_| Request::default()).collect();
    let requests: &'static [Request] = requests.leak();
    let future = requests
        .first()
        .map_or(0, |request| size_of_val(&call(request)));

    let (resident, worked, began) = (status("VmRSS:")?, worked()?, Instant::now());
    let work = || {
        // On a worker, as in a program.
        let spawner = runtime.spawn(async move {
            for request in requests {
                tokio::spawn(call(request));
            }
            while answer_count() < tasks {
                sleep(Duration::from_millis(10)).await;
            }
        });
        runtime.block_on(spawner)
    };
    let mut joined = Ok(());
    let held = if weighed {
        most_held(|| joined = work())
    } else {
        joined = work();
        0
    };
    joined?;
    let (seconds, most) = (began.elapsed().as_secs_f64(), most_waiting());
    if most != tasks {
        return Err(format!("only {most} of {tasks} tasks were in backoff at once").into());
    }
    let tasks = f64::from(tasks);
    Ok(Figures {
        future: f64::from(u32::try_from(future)?),
        held: f64::from(u32::try_from(held)?) / tasks,
        resident: (status("VmHWM:")? - resident) / tasks,
        worked: (self::worked()? - worked) / tasks,
        seconds,
    })
}

/// A number of bytes in what Linux says about the process.
fn status(key: &str) -> Result<f64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes
        .ok_or("no such line in `/proc/self/status`")?
        .parse::<f64>()?
        * 1024.0)
}

/// Microseconds of processor time of all threads so far, the system's work for them included.
fn worked() -> Result<f64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: Result<Vec<f64>, _> = ticks.map(str::parse).collect();
    // A hundred ticks a second: what Linux shows, whatever it counts.
    Ok(ticks?.iter().sum::<f64>() * 10_000.0)
}
