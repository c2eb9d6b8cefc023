//! What the compiler says: errors of ours, and parameters that are moved.

use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};
use cargo_metadata::{Message, MetadataCommand};

/// An error with its place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Fault {
    pub(super) path: PathBuf,
    /// From 1, as `column`, which counts characters.
    pub(super) line: usize,
    pub(super) column: usize,
    /// The first rule that the message names, or the code of the compiler.
    pub(super) rule: String,
    pub(super) message: String,
    /// What its notes name as ways out.
    pub(super) ways: Vec<String>,
}

/// `cargo check` of a workspace.
pub(super) struct Check {
    pub(super) root: PathBuf,
    arguments: Vec<String>,
}

impl Check {
    pub(super) fn new(
        manifest: Option<&Path>,
        packages: &[String],
    ) -> Result<Self, Box<dyn Error>> {
        let mut metadata = MetadataCommand::new();
        metadata.no_deps();
        let mut arguments: Vec<String> = [
            "check",
            "--all-targets",
            "--keep-going",
            "--message-format=json",
        ]
        .map(ToOwned::to_owned)
        .into();
        if let Some(manifest) = manifest {
            metadata.manifest_path(manifest);
            arguments.push("--manifest-path".to_owned());
            arguments.push(manifest.display().to_string());
        }
        if packages.is_empty() {
            arguments.push("--workspace".to_owned());
        }
        for package in packages {
            arguments.extend(["--package".to_owned(), package.clone()]);
        }
        let root = metadata.exec()?.workspace_root.into();
        Ok(Self { root, arguments })
    }

    /// The errors that may have a fix, each once.
    pub(super) fn faults(&self) -> Result<Vec<Fault>, Box<dyn Error>> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo).args(&self.arguments).output()?;
        let (mut faults, mut seen, mut other) = (Vec::new(), HashSet::new(), None);
        for message in Message::parse_stream(&*output.stdout) {
            let Message::CompilerMessage(message) = message? else {
                continue;
            };
            let message = message.message;
            if message.level != DiagnosticLevel::Error {
                continue;
            }
            match self.fault(&message) {
                Some(fault) if seen.insert(fault.clone()) => faults.push(fault),
                Some(_) => {}
                None => other = other.or(message.rendered),
            }
        }
        if faults.is_empty() && !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!(
                "the workspace does not compile, and not because of this library\n{}",
                other.unwrap_or(said)
            )
            .into());
        }
        Ok(faults)
    }

    fn fault(&self, message: &Diagnostic) -> Option<Fault> {
        let code = message.code.as_ref().map(|it| it.code.as_str());
        let rule = match (rule(message), code) {
            (Some(rule), _) => rule,
            (None, Some("E0507" | "E0382")) => "moved".to_owned(),
            (None, Some("E0277")) if message.message.contains("Classify") => "S4".to_owned(),
            _ => return None,
        };
        // What a macro has made stands where it was called; the innermost place in the workspace is the value.
        let span = message.spans.iter().find(|it| it.is_primary)?;
        let span = self.own(span)?;
        Some(Fault {
            path: self.root.join(&span.file_name),
            line: span.line_start,
            column: span.column_start,
            rule,
            message: message.message.clone(),
            ways: ways(message),
        })
    }

    fn own<'a>(&self, span: &'a DiagnosticSpan) -> Option<&'a DiagnosticSpan> {
        let mut span = span;
        while !self.root.join(&span.file_name).starts_with(&self.root)
            || span.file_name.starts_with('<')
        {
            span = &span.expansion.as_ref()?.span;
        }
        Some(span)
    }
}

/// The notes of ours: those that begin with whom they are for, or what to do.
fn ways(message: &Diagnostic) -> Vec<String> {
    let notes = message.children.iter().map(|it| it.message.as_str());
    let ours = [
        "for ",
        "name the types ",
        "`on(_)` ",
        "return ",
        "implement ",
    ];
    let own = notes.filter(|it| ours.iter().any(|word| it.starts_with(word)));
    own.map(ToOwned::to_owned).collect()
}

/// The rule at the end of a message of ours, or of a note.
fn rule(message: &Diagnostic) -> Option<String> {
    let children = message.children.iter().map(|it| &it.message);
    let mut texts = std::iter::once(&message.message).chain(children);
    texts.find_map(|text| {
        let (_, rest) = text.rsplit_once("rule ")?;
        let (rule, address) = rest.split_once(": ")?;
        address.contains("/errors.html#").then(|| rule.to_owned())
    })
}
