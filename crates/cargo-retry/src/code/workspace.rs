//! What cargo knows: packages, their targets, and the names under which they see each other.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use cargo_metadata::{Edition, MetadataCommand};

/// The packages that are looked at.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) packages: Vec<Package>,
}

pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// What the code calls its dependencies, and what their packages are called.
    pub(crate) externs: HashMap<String, String>,
    pub(crate) targets: Vec<Target>,
    /// Whether paths of `use` begin at the crate (edition 2015).
    pub(crate) is_2015: bool,
}

pub(crate) struct Target {
    /// As the code calls it.
    pub(crate) name: String,
    /// `lib`, `bin`, `example`, `test`, `bench`, `build`.
    pub(crate) kind: &'static str,
    pub(crate) root: PathBuf,
}

impl Workspace {
    /// Asks cargo, without the network.
    pub(crate) fn load(manifest: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let mut command = MetadataCommand::new();
        command.no_deps();
        if let Some(manifest) = manifest {
            command.manifest_path(manifest);
        }
        let metadata = command.exec().map_err(said)?;
        let packages = metadata.workspace_packages();
        Ok(Self {
            root: metadata.workspace_root.clone().into(),
            packages: packages.into_iter().map(Package::of).collect(),
        })
    }

    /// Only the packages of these names; a name that there is not is an error.
    pub(crate) fn only(mut self, names: &[String]) -> Result<Self, Box<dyn Error>> {
        if names.is_empty() {
            return Ok(self);
        }
        for name in names {
            if !self.packages.iter().any(|package| package.name == *name) {
                let known: Vec<_> = self.packages.iter().map(|it| it.name.as_str()).collect();
                return Err(format!(
                    "no package `{name}` in this workspace; its packages are {}",
                    reattempt_syntax::keys::listed(&known)
                )
                .into());
            }
        }
        for package in &mut self.packages {
            if !names.contains(&package.name) {
                // Its names are still known to the others.
                package.targets.retain(|target| target.kind == "lib");
            }
        }
        Ok(self)
    }
}

/// What cargo has said, without what it says about itself.
fn said(error: cargo_metadata::Error) -> Box<dyn Error> {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            let said = stderr.trim();
            let said = said.strip_prefix("error: ").unwrap_or(said);
            said.to_owned().into()
        }
        error => error.into(),
    }
}

impl Package {
    fn of(package: &cargo_metadata::Package) -> Self {
        let manifest = package.manifest_path.as_std_path();
        let externs = package.dependencies.iter().map(|dependency| {
            let seen = dependency.rename.as_ref().unwrap_or(&dependency.name);
            (seen.replace('-', "_"), dependency.name.clone())
        });
        let targets = package.targets.iter().map(Target::of);
        Self {
            name: package.name.to_string(),
            folder: manifest.parent().unwrap_or(manifest).to_owned(),
            externs: externs.collect(),
            targets: targets.collect(),
            is_2015: package.edition == Edition::E2015,
        }
    }
}

impl Target {
    fn of(target: &cargo_metadata::Target) -> Self {
        let kind = if target.is_bin() {
            "bin"
        } else if target.is_example() {
            "example"
        } else if target.is_test() {
            "test"
        } else if target.is_bench() {
            "bench"
        } else if target.is_custom_build() {
            "build"
        } else {
            "lib"
        };
        Self {
            name: target.name.replace('-', "_"),
            kind,
            root: target.src_path.clone().into(),
        }
    }
}
