//! `cargo retry list`: the code of a workspace -> the places that retry -> their policies and what they call -> a
//! table, JSON or SARIF.

mod calls;
mod count;
mod macros;
mod nesting;
pub(crate) mod policy;
mod reading;
mod report;
pub(crate) mod sites;
pub(crate) mod types;
mod values;
mod visit;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use reattempt_config::{Config, ConfigError};
use retry_runtime::rules::Key;

use crate::code::modules::Code;
use crate::code::workspace::Workspace;
use crate::output;
use calls::Index;
use policy::Effective;
use report::{Format, Listing, Order};
use sites::Survey;
use types::Types;
use values::Constants;

/// Lists every place of the workspace that retries: attributes, blocks, `Policy::run`, layers, durable steps
///
/// With attempts, delays, the worst case in time and load, and what bounds it. Nothing is compiled; what a `cfg` leaves
/// out is listed, too, with its condition.
///
/// All numbers are those of one call when everything fails. "300 ms + attempts": the delays together take 300 ms, and
/// nothing limits how long the attempts take. "x3": the service sees three requests for one. "?": only the compiler or
/// the running program knows.
///
/// Calls from one retried function to another are followed where the code tells which function is meant: by its path,
/// or as a method of a type that is written down. "x7 below" counts the attempts of the innermost function at most:
/// each place where an attempt may call it adds up, and of a loop it is one turn.
///
/// Exit status: 0, 1 if a policy of the code or of the configuration breaks a rule or a file could not be read, 2 if
/// nothing is listed because of that.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How to tell it
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// The order of the places
    #[arg(long, value_enum, value_name = "ORDER")]
    sort: Option<Order>,
    /// Only so many places, those with the highest load first, or in the order of `--sort`
    #[arg(long, value_name = "NUMBER")]
    worst: Option<usize>,
    /// Writes to a file instead of the standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these packages
    #[arg(short, long = "package", value_name = "NAME")]
    packages: Vec<String>,
    /// The manifest of the workspace, or of a package in it
    #[arg(long, value_name = "FILE")]
    manifest_path: Option<PathBuf>,
    /// The configuration file of `policy = "name"`; without it `retry.toml` at the root of the workspace, if it is there
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let workspace = Workspace::load(arguments.manifest_path.as_deref())?;
    let configuration = policy::configuration(arguments.config.as_deref(), &workspace.root);
    let configuration = match configuration.map_err(<dyn Error>::downcast::<ConfigError>) {
        Ok(configuration) => configuration,
        Err(Ok(faults)) => {
            eprintln!("error: {}", output::shown(&faults));
            return Ok(ExitCode::FAILURE);
        }
        Err(Err(fault)) => return Err(fault),
    };
    let workspace = workspace.only(&arguments.packages)?;
    let Read {
        code,
        types,
        survey,
        effective,
    } = Read::of(&workspace, configuration.as_ref());
    let nested = nesting::of(&survey, &Index::new(&code, &types, &survey), &effective);
    let mut listing = Listing::new(
        &survey,
        &effective,
        &nested,
        &arguments.packages,
        &code.unread,
    );
    code.report_unread();
    let is_sound = listing.is_sound();
    let order = arguments.worst.map_or(Order::Place, |_| Order::Load);
    listing.ordered(arguments.sort.unwrap_or(order), arguments.worst);
    let text = listing.text(arguments.format)?;
    let text = match arguments.format {
        Format::Table | Format::Line => output::shown(&text),
        Format::Json | Format::Sarif => output::shown_in_json(&text),
    };
    match &arguments.output {
        Some(file) => fs::write(file, text)
            .map_err(|error| format!("{} cannot be written: {error}", file.display()))?,
        None => output::print(&text)?,
    }
    Ok(if listing.is_blind() {
        ExitCode::from(2)
    } else if is_sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A workspace that was read: its places, and the policy that holds at each as far as that is known.
pub(crate) struct Read {
    pub(crate) code: Code,
    pub(crate) types: Types,
    pub(crate) survey: Survey,
    pub(crate) effective: Vec<Option<Effective>>,
}

impl Read {
    pub(crate) fn of(workspace: &Workspace, configuration: Option<&Config>) -> Self {
        let code = Code::read(workspace);
        let types = Types::of(&code);
        let survey = visit::survey(&code, &types);
        let effective = policy::of(&survey, &Constants::of(&code), configuration);
        Self {
            code,
            types,
            survey,
            effective,
        }
    }
}

/// The keys of the operation of this name in the code here, or of the only one that ends with it.
pub(crate) fn keys(name: &str) -> Result<Option<String>, Box<dyn Error>> {
    let code = Code::read(&Workspace::load(None)?);
    let types = Types::of(&code);
    let survey = visit::survey(&code, &types);
    let below = format!("::{name}");
    let mut sites: Vec<_> = (survey.sites.iter())
        .filter(|it| it.operation == name || it.operation.ends_with(&below))
        .collect();
    if let Some(exact) = sites.iter().copied().find(|it| it.operation == name) {
        sites = vec![exact];
    }
    // A file may be part of several targets.
    sites.dedup_by(|one, other| one.place == other.place);
    let [site] = sites.as_slice() else {
        let names: Vec<_> = sites.iter().map(|it| it.operation.as_str()).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let names = names.join(", ");
        return Err(format!("`{name}` may be one of these operations: {names}").into());
    };
    let is_of_policy = |key: &str| {
        Key::ALL.iter().any(|it| it.as_str() == key) || ["budget", "breaker"].contains(&key)
    };
    let written = site.reading.written.iter();
    let pairs = written.filter(|(key, _)| is_of_policy(key));
    let pairs: Vec<_> = pairs
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    // Without a key it is the default, which has a name for that.
    Ok(Some(if pairs.is_empty() {
        "max = 3".to_owned()
    } else {
        pairs.join(", ")
    }))
}
