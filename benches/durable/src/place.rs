//! Where the tasks of a measurement are kept: a file, or a database of a server that is started here.

use std::path::PathBuf;

use sqlx::{Connection as _, PgConnection};

#[path = "../../../examples/servers/mod.rs"]
mod servers;

use servers::Server;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// Makes stores that have nothing in them.
pub struct Places {
    server: Option<Server>,
    count: u32,
}

/// One store, which is deleted when this is dropped or done with.
pub struct Place {
    pub url: String,
    folder: Option<PathBuf>,
}

impl Places {
    /// With a server that writes to disk what it says is written.
    pub fn new() -> Self {
        Self {
            server: Server::postgres_with(&["-c", "fsync=on"]),
            count: 0,
        }
    }

    pub fn has(&self, kind: Kind) -> bool {
        kind == Kind::Sqlite || self.server.is_some()
    }

    pub async fn make(&mut self, kind: Kind) -> Place {
        if kind == Kind::Sqlite {
            let folder = servers::folder("durable");
            return Place {
                url: format!("sqlite://{}", folder.join("tasks.db").display()),
                folder: Some(folder),
            };
        }
        self.count += 1;
        let name = format!("tasks{}", self.count);
        self.execute(&format!("CREATE DATABASE {name}")).await;
        Place {
            url: self.url(&name),
            folder: None,
        }
    }

    /// A database of the server takes place on its disk until then.
    pub async fn remove(&self, place: Place) {
        if let Some(name) = place.url.rsplit('/').next()
            && place.folder.is_none()
        {
            let drop = format!("DROP DATABASE {name} WITH (FORCE)");
            self.execute(&drop).await;
        }
    }

    fn url(&self, database: &str) -> String {
        let port = self.server.as_ref().expect("a server").port;
        format!("postgres://postgres@127.0.0.1:{port}/{database}")
    }

    async fn execute(&self, sql: &str) {
        let connection = PgConnection::connect(&self.url("postgres")).await;
        let mut connection = connection.expect("the server");
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        let done = sqlx::raw_sql(sql).execute(&mut connection).await;
        done.expect("a database of the server");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
