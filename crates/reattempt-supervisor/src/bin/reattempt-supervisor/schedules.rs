//! The commands for schedules.

use std::error::Error;

use clap::{Args, Subcommand};
use reattempt_supervisor::Client;

use crate::{Signature, show};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Pauses a schedule: times until it is resumed get no task.
    Pause(NamedSchedule),
    /// Resumes a schedule, from its first time after now.
    Resume(NamedSchedule),
    /// Removes a schedule. Only a higher revision brings it back.
    Remove(NamedSchedule),
}

/// The schedule that a command is for.
#[derive(Debug, Args)]
pub(crate) struct NamedSchedule {
    /// The name of the schedule.
    name: String,
    #[command(flatten)]
    signature: Signature,
}

/// Carries out a command; without one it lists the schedules.
pub(crate) async fn run(
    client: &Client,
    command: Option<Command>,
    as_json: bool,
) -> Result<(), Box<dyn Error>> {
    let Some(command) = command else {
        return show::schedules(&client.schedules().await?, as_json);
    };
    let (Command::Pause(named) | Command::Resume(named) | Command::Remove(named)) = &command;
    let (name, operator) = (&named.name, named.signature.of(client));
    let done = match command {
        Command::Pause(_) => operator.pause_schedule(name).await.map(|()| "is paused"),
        Command::Resume(_) => operator.resume_schedule(name).await.map(|()| "goes on"),
        Command::Remove(_) => operator.remove_schedule(name).await.map(|()| "is removed"),
    };
    println!("the schedule `{name}` {}", done?);
    Ok(())
}
