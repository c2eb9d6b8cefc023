//! What the instances of a generic function cost: a program with a hundred of them compared with one that has none, where the
//! compiler looks for speed and where it looks for size.

use std::error::Error;
use std::fmt::Write as _;

use super::crates::Folder;
use crate::matrix::Matrix;

const INSTANCES: u32 = 100;
const LEVELS: [&str; 2] = ["3", "\"z\""];

/// A way to write the function `call`, which is made for each body that it is given.
struct Way {
    title: &'static str,
    library: &'static str,
    call: &'static str,
}

const WAYS: &[Way] = &[
    Way {
        title: "plain",
        library: "",
        call: "fn call<F: FnMut(u64) -> Answer>(mut body: F, id: u64) -> Answer { body(id) }",
    },
    Way {
        title: "loop by hand",
        library: "",
        call: "
fn delay(retry: u32) -> std::time::Duration {
    std::time::Duration::from_millis(100).saturating_mul(2_u32.saturating_pow(retry))
}

fn call<F: FnMut(u64) -> Answer>(mut body: F, id: u64) -> Answer {
    let mut retries = 0;
    loop {
        match body(id) {
            Err(error) if retries < 4 && is_transient(&error) => {}
            outcome => return outcome,
        }
        std::thread::sleep(delay(retries));
        retries += 1;
    }
}",
    },
    Way {
        title: "#[retry]",
        library: r#"reattempt = { path = "ROOT" }"#,
        call: "
#[reattempt::retry(max = 5, on = is_transient, budget = \"none\")]
fn call<F: FnMut(u64) -> Answer>(mut body: F, id: u64) -> Answer { body(id) }",
    },
    Way {
        title: "backon",
        library: r#"backon = { version = "1", default-features = false, features = ["std", "std-blocking-sleep"] }"#,
        call: "
fn call<F: FnMut(u64) -> Answer>(mut body: F, id: u64) -> Answer {
    use backon::BlockingRetryable;
    (|| body(id)).retry(backon::ExponentialBuilder::new().with_jitter().with_max_times(4)).when(is_transient).call()
}",
    },
];

const COMMON: &str = "
#[derive(Debug, PartialEq)]
pub enum Fault {
    Busy,
    Broken,
}

#[allow(dead_code)]
fn is_transient(fault: &Fault) -> bool {
    *fault == Fault::Busy
}

type Answer = Result<u64, Fault>;

#[inline(never)]
fn get(id: u64, number: u64) -> Answer {
    if id == number { Err(Fault::Busy) } else if id > 7000 { Err(Fault::Broken) } else { Ok(id) }
}

fn main() {
    let number = std::env::args().count();
    if let Some(call) = CALLS.get(number) {
        println!(\"{:?}\", call(7));
    }
}
";

impl Way {
    fn program(&self, instances: u32) -> String {
        let mut calls = String::new();
        for number in 0..instances {
            let _ = writeln!(calls, "|id| call(|id| get(id, {number}), id),");
        }
        let call = self.call;
        format!("{COMMON}{call}\nstatic CALLS: [fn(u64) -> Answer; {instances}] = [{calls}];\n")
    }

    /// Bytes of machine code of each instance.
    fn code(&self, folder: &Folder, number: usize, level: &str) -> Result<f64, Box<dyn Error>> {
        let code = |instances: u32| {
            let letter = level.trim_matches('"');
            let name = format!("instance-{number}-{letter}-{instances}");
            let profile = format!("[profile.release]\nopt-level = {level}\n");
            let program = self.program(instances);
            let made = folder.add_with(&name, "target", &profile, self.library, program)?;
            made.timed(&["build", "--release"])?;
            made.size()
        };
        Ok((code(INSTANCES)? - code(0)?) / f64::from(INSTANCES))
    }
}

pub(super) fn matrix(folder: &Folder) -> Result<Matrix, Box<dyn Error>> {
    let columns = ["opt-level 3, bytes", "opt-level \"z\", bytes"];
    let mut matrix = Matrix::new("one more instance of a generic function", &columns);
    for (number, way) in WAYS.iter().enumerate() {
        let codes = LEVELS.map(|level| way.code(folder, number, level));
        let codes: Result<Vec<_>, _> = codes.into_iter().collect();
        matrix.row(way.title, codes?.into_iter().map(Some).collect());
    }
    Ok(matrix)
}
