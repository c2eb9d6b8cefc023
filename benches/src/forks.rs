//! Cases that each run in a process of their own, a fork of one that has started.
#![cfg(unix)]
#![allow(unsafe_code, reason = "`fork` is an unsafe function")]

use std::error::Error;
use std::{io, process};

use crate::cases::Run;

/// Runs cases that `find` knows, three words each, and prints the number of the process of each.
pub(crate) fn run_each(
    words: &[&str],
    find: fn(&str) -> Result<Run, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let known: Result<Vec<_>, Box<dyn Error>> = words
        .as_chunks()
        .0
        .iter()
        .map(|[case, failures, calls]| {
            let run = match *case {
                "nothing" => |_, _| {},
                case => find(case)?,
            };
            Ok((run, failures.parse()?, calls.parse()?))
        })
        .collect();
    let known = known?;
    // With room for all: what happens between two of them is counted, and has to be the same each time.
    let mut forks = Vec::with_capacity(known.len());
    for case in known {
        forks.push(forked(case)?);
    }
    for fork in forks {
        println!("{fork}");
    }
    Ok(())
}

fn forked((run, failures, calls): (Run, u32, u64)) -> io::Result<libc::pid_t> {
    // SAFETY: this process has one thread, so the other may do all that this one may.
    let child = unsafe { libc::fork() };
    if child == 0 {
        run(failures, calls);
        process::exit(0);
    }
    let mut status = 0;
    // SAFETY: `status` is there until it returns.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    match (ended, status) {
        (-1, _) => Err(io::Error::last_os_error()),
        (_, 0) => Ok(child),
        _ => Err(io::Error::other("the process of a case failed")),
    }
}
