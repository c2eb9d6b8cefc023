//! Servers of others for examples and tests: started on a free loopback port with a folder
//! of their own, and stopped when dropped. Where one is not installed, `None` and a line on how to
//! install it; with `REATTEMPT_SERVERS=required` that is a failure.
#![allow(dead_code, reason = "each program uses one of them")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test or an example ends where its server does not start"
)]

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use std::{env, fs};

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    folder: PathBuf,
    pub(crate) port: u16,
}

impl Server {
    /// PostgreSQL with a database `postgres` of the user `postgres`, who needs no password.
    pub(crate) fn postgres() -> Option<Self> {
        Self::postgres_with(&[])
    }

    /// The same with `options` as on its command line.
    pub(crate) fn postgres_with(options: &[&str]) -> Option<Self> {
        let initdb = installed("initdb", "postgresql")?;
        let folder = folder("postgres");
        let data = folder.join("data");
        let made = as_nobody(&initdb)
            .arg("-D")
            .arg(&data)
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"])
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb failed");
        let port = free_port();
        let process = postgres(&initdb.with_file_name("postgres"), &folder, port, options);
        let mut server = Self {
            process,
            folder,
            port,
        };
        server.wait_for_postgres(&initdb);
        Some(server)
    }

    /// Returns the URL of the database of PostgreSQL.
    pub(crate) fn url(&self) -> String {
        postgres_url(self.port)
    }

    /// Ends PostgreSQL as a crash would and starts it again, on its port and with the files it left.
    pub(crate) fn restart_postgres(&mut self) {
        self.crash_postgres();
        let initdb = installed("initdb", "postgresql").unwrap();
        let program = initdb.with_file_name("postgres");
        self.process = postgres(&program, &self.folder, self.port, &[]);
        self.wait_for_postgres(&initdb);
    }

    /// Returns whether its process has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(Some(_)))
    }

    /// A standby of this PostgreSQL, which streams from it.
    pub(crate) fn standby(&self) -> Self {
        let initdb = installed("initdb", "postgresql").unwrap();
        let folder = folder("standby");
        let data = folder.join("data");
        let copied = as_nobody(&initdb.with_file_name("pg_basebackup"))
            .args(["-R", "-U", "postgres", "-h", "127.0.0.1", "-p"])
            .arg(self.port.to_string())
            .args(["--no-sync", "-c", "fast", "-D"])
            .arg(&data)
            .status();
        assert!(copied.unwrap().success(), "pg_basebackup failed");
        let port = free_port();
        let process = postgres(&initdb.with_file_name("postgres"), &folder, port, &[]);
        let mut server = Self {
            process,
            folder,
            port,
        };
        server.wait_for_postgres(&initdb);
        server
    }

    /// Lets a standby get nothing more from its primary.
    pub(crate) fn cut_off(&self) {
        let settings = self.folder.join("data/postgresql.auto.conf");
        let mut settings = fs::OpenOptions::new().append(true).open(settings).unwrap();
        settings.write_all(b"primary_conninfo = ''\n").unwrap();
        let pid = self.process.id().to_string();
        let reload = Command::new("kill").args(["-HUP", &pid]).status();
        assert!(reload.unwrap().success());
    }

    /// Makes a standby a primary.
    pub(crate) fn promote(&self) {
        let initdb = installed("initdb", "postgresql").unwrap();
        let promoted = as_nobody(&initdb.with_file_name("pg_ctl"))
            .args(["promote", "-s", "-w", "-D"])
            .arg(self.folder.join("data"))
            .status();
        assert!(promoted.unwrap().success(), "the promotion failed");
    }

    /// Ends PostgreSQL as a crash would.
    pub(crate) fn crash_postgres(&mut self) {
        // Its children end with it, and leave nothing that a new one would wait for.
        if !self.is_over() {
            let pid = self.process.id().to_string();
            let _ = Command::new("kill").args(["-QUIT", &pid]).status();
            let _ = self.process.wait();
        }
    }

    fn wait_for_postgres(&mut self, initdb: &Path) {
        let ready = initdb.with_file_name("pg_isready");
        self.wait(|port| {
            let mut ask = Command::new(&ready);
            let ask = ask.args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]);
            ask.status().is_ok_and(|status| status.success())
        });
    }

    /// Redis without persistence; `options` as on its command line.
    pub(crate) fn redis(options: &[&str]) -> Option<Self> {
        let program = installed("redis-server", "redis-server")?;
        let folder = folder("redis");
        let port = free_port();
        let process = redis(&program, &folder, port, options);
        let mut server = Self {
            process,
            folder,
            port,
        };
        server.wait_for_redis();
        Some(server)
    }

    /// Ends Redis as a crash would and starts it again, on its port and with the files it left.
    pub(crate) fn restart_redis(&mut self, options: &[&str]) {
        self.kill();
        let program = installed("redis-server", "redis-server").unwrap();
        self.process = redis(&program, &self.folder, self.port, options);
        self.wait_for_redis();
    }

    /// By the socket in its folder: on the port somebody else may have been faster.
    fn wait_for_redis(&mut self) {
        let socket = self.folder.join("socket");
        self.wait(|_| UnixStream::connect(&socket).is_ok());
    }

    /// The folder that it works in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    fn wait(&mut self, is_ready: impl Fn(u16) -> bool) {
        for _ in 0..600 {
            if is_ready(self.port) {
                return;
            }
            if let Ok(Some(status)) = self.process.try_wait() {
                panic!("the server ended at once: {status}");
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the server did not come up within 30 s");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            // An orderly shutdown: children of PostgreSQL outlive a kill.
            let pid = self.process.id().to_string();
            let _ = Command::new("kill").args(["-INT", &pid]).status();
            for _ in 0..100 {
                if let Ok(Some(_)) = self.process.try_wait() {
                    break;
                }
                thread::sleep(Duration::from_millis(20));
            }
            self.kill();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn postgres(program: &Path, folder: &Path, port: u16, options: &[&str]) -> Child {
    as_nobody(program)
        .arg("-D")
        .arg(folder.join("data"))
        .arg("-k")
        .arg(folder)
        .args(["-h", "127.0.0.1", "-p", &port.to_string()])
        .args(["-c", "fsync=off", "-c", "max_connections=100"])
        .args(["-c", "max_prepared_transactions=10"])
        .args(options)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn redis(program: &Path, folder: &Path, port: u16, options: &[&str]) -> Child {
    Command::new(program)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .arg("--unixsocket")
        .arg(folder.join("socket"))
        .args(["--save", "", "--dir"])
        .arg(folder)
        .args(options)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Where `program` is; `None` after a word on how to install it.
pub(crate) fn installed(program: &str, package: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian keeps the programs of PostgreSQL out of the path, in a folder for each version.
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut versions: Vec<_> = versions
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect();
    versions.sort();
    let mut folders = versions.into_iter().rev().chain(env::split_paths(&path));
    let found = folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()));
    if found.is_none() {
        let fix = format!("`{program}` is not installed; on Debian: apt-get install {package}");
        left_out(&fix, "REATTEMPT_SERVERS");
    }
    found
}

/// Says why something does not run here, once for each process; where the variable is set it fails instead.
pub(crate) fn left_out(why: &str, variable: &str) {
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

    assert!(env::var_os(variable).is_none(), "{why}");
    let mut said = SAID.lock().unwrap();
    if !said.iter().any(|known| known == why) {
        said.push(why.to_owned());
        // Not by `eprintln!`, which a harness of tests keeps for itself.
        let _ = writeln!(std::io::stderr(), "left out: {why}");
    }
}

/// An empty folder that the server may write to.
pub(crate) fn folder(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("reattempt-{name}-{}-{count}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    if let Some((uid, gid)) = nobody() {
        chown(&folder, Some(uid), Some(gid)).unwrap();
    }
    folder
}

/// PostgreSQL refuses to run as root.
fn as_nobody(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(env::temp_dir());
    if let Some((uid, gid)) = nobody() {
        command.uid(uid).gid(gid);
    }
    command
}

/// For root: somebody who is not.
fn nobody() -> Option<(u32, u32)> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = |name: &str| {
        let line = users
            .lines()
            .find(|line| line.starts_with(&format!("{name}:")))?;
        let mut ids = line.split(':').skip(2).map(str::parse);
        Some((ids.next()?.ok()?, ids.next()?.ok()?))
    };
    let found = is_root.then(|| user("postgres").or_else(|| user("nobody")));
    found.flatten()
}

/// Returns the URL of the database of a PostgreSQL, or of a proxy before it, on this port.
pub(crate) fn postgres_url(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}
