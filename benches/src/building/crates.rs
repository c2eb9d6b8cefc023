//! Crates that are made to be compiled: in a folder of their own, with the versions of this workspace.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// This workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Where the crates are, until the end.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn make() -> Result<Self, Box<dyn Error>> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("reattempt-building-{}-{number}", process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// A crate with these dependencies; the name tells it from the others. Those with the same target compile
    /// what they share only once.
    pub(super) fn add(
        &self,
        name: &str,
        target: &str,
        dependencies: &str,
        main: String,
    ) -> Result<Crate, Box<dyn Error>> {
        self.add_with(name, target, "", dependencies, main)
    }

    /// The same with a profile in its manifest.
    pub(super) fn add_with(
        &self,
        name: &str,
        target: &str,
        profile: &str,
        dependencies: &str,
        main: String,
    ) -> Result<Crate, Box<dyn Error>> {
        let path = self.0.join(name);
        fs::create_dir_all(path.join("src"))?;
        let package = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n");
        let dependencies = dependencies.replace("ROOT", ROOT);
        fs::write(
            path.join("Cargo.toml"),
            format!("{package}{profile}[dependencies]\n{dependencies}\n"),
        )?;
        // Cargo drops from it what the crate does not need, and changes no version.
        fs::copy(Path::new(ROOT).join("Cargo.lock"), path.join("Cargo.lock"))?;
        let made = Crate {
            path,
            target: self.0.join(target),
            program: format!("release/{name}"),
            main,
        };
        made.renew()?;
        Ok(made)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{} stays: {error}", self.0.display());
        }
    }
}

pub(super) struct Crate {
    path: PathBuf,
    target: PathBuf,
    /// Where it is in `target`.
    program: String,
    main: String,
}

impl Crate {
    /// Seconds of cargo from nothing at all.
    pub(super) fn cleaned(&self, words: &[&str]) -> Result<f64, Box<dyn Error>> {
        if self.target.exists() {
            fs::remove_dir_all(&self.target)?;
        }
        self.timed(words)
    }

    /// Compiles when nothing but this crate has changed.
    pub(super) fn renewed(&self, words: &[&str]) -> Result<(), Box<dyn Error>> {
        self.renew()?;
        self.asked(words)?;
        Ok(())
    }

    pub(super) fn timed(&self, words: &[&str]) -> Result<f64, Box<dyn Error>> {
        let began = Instant::now();
        self.asked(words)?;
        Ok(began.elapsed().as_secs_f64())
    }

    /// What cargo answers.
    pub(super) fn asked(&self, words: &[&str]) -> Result<String, Box<dyn Error>> {
        let output = Command::new("cargo")
            .args(words)
            .args(["--quiet", "--offline"])
            .env("CARGO_TARGET_DIR", &self.target)
            // Else a second run would compile nothing.
            .env("CARGO_INCREMENTAL", "0")
            .current_dir(&self.path)
            .output()?;
        if !output.status.success() {
            let (path, report) = (self.path.display(), String::from_utf8_lossy(&output.stderr));
            let report = report.lines().take(20).collect::<Vec<_>>().join("\n");
            return Err(format!("{path}: cargo {words:?} failed:\n{report}").into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Bytes of code and data in the program that `cargo build --release` has made.
    pub(super) fn size(&self) -> Result<f64, Box<dyn Error>> {
        let output = Command::new("size")
            .arg(self.target.join(&self.program))
            .output()
            .map_err(|error| format!("`size` of binutils cannot be run: {error}"))?;
        let report = String::from_utf8(output.stdout)?;
        let line = report.lines().nth(1).unwrap_or_default();
        let mut numbers = line.split_whitespace().map(str::parse::<f64>);
        match (numbers.next(), numbers.next()) {
            (Some(code), Some(data)) => Ok(code? + data?),
            _ => Err("`size` of binutils says nothing".into()),
        }
    }

    fn renew(&self) -> Result<(), Box<dyn Error>> {
        Ok(fs::write(self.path.join("src/main.rs"), &self.main)?)
    }
}

/// Seconds that processors have spent on what this program has started and waited for.
pub(super) fn processor() -> Result<f64, Box<dyn Error>> {
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("/proc/self/stat has no name")?;
    let user = fields.split_whitespace().nth(13).ok_or("no `cutime`")?;
    Ok(user.parse::<f64>()? / TICKS)
}
