//! The other side: the server, and the proxies before it and before PostgreSQL.

use tokio::runtime::{Builder, Runtime};

use crate::log::{self, What};
use crate::plan::{Fault, Plan, Side};
use crate::proxy::Proxy;
use crate::server::Server;

/// On threads of its own.
pub(crate) struct Other {
    pub(crate) runtime: Runtime,
    pub(crate) server: Server,
    pub(crate) http: Proxy,
    pub(crate) database: Proxy,
}

impl Other {
    pub(crate) fn begin(plan: Plan, postgres: u16) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (server, http, database) = runtime.block_on(async {
            let server = Server::begin(plan).await;
            let http = Proxy::begin(server.port, plan.seed).await;
            let database = Proxy::begin(postgres, plan.seed.wrapping_add(1)).await;
            (server, http, database)
        });
        Self {
            runtime,
            server,
            http,
            database,
        }
    }

    pub(crate) fn set(&self, side: Side, fault: Fault) {
        log::note(0, What::Fault(side, fault));
        match side {
            Side::Http => self.http.set(fault),
            Side::Database => self.database.set(fault),
            Side::Server => self.server.set(fault),
        }
    }
}
