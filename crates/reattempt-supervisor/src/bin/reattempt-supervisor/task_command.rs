//! The commands about whole tasks: a subcommand for each.

use std::error::Error;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use reattempt_supervisor::Client;
use reattempt_supervisor::store::AdminCommand;

use crate::Signature;
use crate::chosen::Chosen;

/// The tasks, and who gives them a command.
#[derive(Debug, Args)]
struct Options {
    #[command(flatten)]
    tasks: Chosen,
    #[command(flatten)]
    signature: Signature,
}

/// A command and its tasks.
#[derive(Debug)]
pub(crate) struct TaskCommand {
    command: AdminCommand,
    options: Options,
}

impl TaskCommand {
    /// Gives the tasks the command.
    pub(crate) async fn run(self, client: &Client) -> Result<(), Box<dyn Error>> {
        let Options { tasks, signature } = self.options;
        let [_, done] = self.command.texts();
        tasks.send((client, &signature), &self.command, done).await
    }
}

/// Returns the name of its subcommand.
fn word(command: &AdminCommand) -> String {
    command.as_str().replace(' ', "-")
}

impl Subcommand for TaskCommand {
    fn augment_subcommands(program: Command) -> Command {
        AdminCommand::all("")
            .iter()
            .fold(program, |program, command| {
                let [about, _] = command.texts();
                let subcommand = Options::augment_args(Command::new(word(command)));
                // As `clap` writes what it derives.
                program.subcommand(subcommand.about(about.trim().trim_end_matches('.')))
            })
    }

    fn augment_subcommands_for_update(program: Command) -> Command {
        Self::augment_subcommands(program)
    }

    fn has_subcommand(name: &str) -> bool {
        AdminCommand::all("")
            .iter()
            .any(|command| word(command) == name)
    }
}

impl FromArgMatches for TaskCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(ErrorKind::MissingSubcommand);
        let (name, own) = matches.subcommand().ok_or_else(missing)?;
        let options = Options::from_arg_matches(own)?;
        let why = match &*options.signature.why {
            "" => "parked by an operator",
            why => why,
        };
        let command = AdminCommand::named(&name.replace('-', " "), why).ok_or_else(missing)?;
        Ok(Self { command, options })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
