//! `cargo retry top`: the statistics of a running service.

mod http;
mod screen;
mod stats;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io::{self, IsTerminal as _, stdin, stdout};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use retry_runtime::duration;

use crate::output;
use crate::plot::Look;
use http::Address;
use stats::Stats;

/// Shows the statistics of a running service, those that give up most first
///
/// The service serves `serde_json::to_string(&reattempt::observe::stats())`, with the feature `stats`. On a terminal the
/// numbers are refreshed until you press `q` or Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Where the service serves its statistics, such as `localhost:9090` or `http://shop:9090/admin/retries.json`; the
    /// path is `/retries.json` if you leave it out
    #[arg(value_name = "URL", value_parser = Address::parse)]
    address: Address,

    /// Prints the numbers once, as it does where standard output is not a terminal
    #[arg(long)]
    once: bool,

    /// From one refresh to the next
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "2s")]
    every: Duration,

    /// Writes nothing but ASCII
    #[arg(long)]
    ascii: bool,
}

/// A service that is asked more often than this does little else.
const OFTEN: Duration = Duration::from_millis(100);

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let look = || Look {
        ascii: arguments.ascii,
        ..Look::of_stdout(0)
    };
    if arguments.once || !stdout().is_terminal() || !stdin().is_terminal() {
        let stats = Stats::read(&http::get(&arguments.address)?, &arguments.address)?;
        output::coloured(&screen::text(&stats, None, look()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let screen = Screen::enter()?;
    let shown = watch(arguments, look);
    drop(screen);
    shown?;
    Ok(ExitCode::SUCCESS)
}

/// Until somebody quits. A service that does not respond may be back soon: the last numbers stay.
fn watch(arguments: &Arguments, look: impl Fn() -> Look) -> io::Result<()> {
    let every = arguments.every.max(OFTEN);
    let mut last: Option<(Stats, Instant)> = None;
    let mut text = String::new();
    loop {
        let fault = match read(&arguments.address) {
            Ok(stats) => {
                let before = last.as_ref().map(|(stats, at)| (stats, at.elapsed()));
                text = screen::text(&stats, before, look());
                last = Some((stats, Instant::now()));
                None
            }
            Err(fault) => Some(fault.to_string()),
        };
        let ago = last.as_ref().map(|(_, at)| at.elapsed());
        let status = screen::status(&arguments.address, every, fault.as_deref(), ago);
        show(&text, &status)?;
        if quits_within(every)? {
            return Ok(());
        }
    }
}

fn read(address: &Address) -> Result<Stats, Box<dyn Error>> {
    Stats::read(&http::get(address)?, address)
}

/// As many lines as the terminal has, the status as the last one.
fn show(text: &str, status: &str) -> io::Result<()> {
    let (width, height) = terminal::size()?;
    let room = usize::from(height).saturating_sub(1);
    let mut lines: Vec<_> = text.lines().take(room).collect();
    lines.resize(room, "");
    let status: String = output::shown(&status).chars().take(width.into()).collect();
    lines.push(&status);
    // A raw terminal does not go back to the first column by itself.
    let lines: Vec<_> = lines.iter().map(|line| format!("{line}\x1b[K")).collect();
    output::coloured(&format!("\x1b[H{}", lines.join("\r\n")))
}

/// Waits until the next refresh, and reports whether somebody quits before.
fn quits_within(time: Duration) -> io::Result<bool> {
    let started = Instant::now();
    while let Some(left) = time.checked_sub(started.elapsed()) {
        if !event::poll(left)? {
            break;
        }
        match event::read()? {
            Event::Key(key) if quits(key) => return Ok(true),
            // Refreshes to the new size at once.
            Event::Resize(..) => break,
            _ => {}
        }
    }
    Ok(false)
}

fn quits(key: KeyEvent) -> bool {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && match key.code {
            KeyCode::Char('c') => is_control,
            KeyCode::Char('q' | 'Q') | KeyCode::Esc => true,
            _ => false,
        }
}

/// A screen of its own, in which keys arrive at once. The old one is back when it is dropped.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let screen = Self;
        crossterm::execute!(stdout(), EnterAlternateScreen, crossterm::cursor::Hide)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        _ = crossterm::execute!(stdout(), crossterm::cursor::Show, LeaveAlternateScreen);
        _ = terminal::disable_raw_mode();
    }
}
