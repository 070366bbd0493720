//! A service for one test: fresh database, moved clock, two tenants, keys of every kind.

use crate::client::Call;
use holdfast::chance::Chance;
use holdfast::clock::Clock;
use holdfast::config::{Config, Flags};
use holdfast::domain::permission::{Permission, Permissions};
use holdfast::egress::Names;
use holdfast::http::route::Route;
use holdfast::routes::ROUTES;
use holdfast::service::Service;
use holdfast::store::{NewKey, Store};
use std::net::SocketAddr;
use tempfile::TempDir;

/// 2026-11-15T08:00:00Z
pub const START_MS: i64 = 1_794_729_600_000;

/// The keys of one tenant.
#[derive(Clone)]
pub struct Keys {
    pub reader: String,
    pub writer: String,
    pub manager: String,
    pub all: String,
    pub expired: String,
    pub revoked: String,
}

/// Names that stand for nothing: a test never asks the network.
#[derive(Debug)]
pub struct Literals;

impl Names for Literals {
    fn look_up(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        let literal = format!("{host}:{port}").parse();
        literal.map(|address| vec![address]).map_err(|_| std::io::ErrorKind::NotFound.into())
    }
}

pub struct House {
    pub service: Option<Service>,
    pub clock: Clock,
    pub config: Config,
    pub ours: Keys,
    /// Another tenant's, so that foreign rows always exist.
    pub theirs: Keys,
    /// Goes when the house goes.
    _folder: TempDir,
}

impl House {
    pub fn new() -> House {
        House::with(|_| {})
    }

    /// A house whose settings are changed before it starts.
    pub fn with(change: impl FnOnce(&mut Config)) -> House {
        House::with_routes(ROUTES, change)
    }

    /// A house with a table of its own.
    pub fn with_routes(routes: &'static [Route], change: impl FnOnce(&mut Config)) -> House {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::read(&Flags::default(), &|_| None).unwrap();
        config.db = folder.path().join("test.db");
        config.listen = "127.0.0.1:0".parse().unwrap();
        config.names = std::sync::Arc::new(Literals);
        change(&mut config);
        let clock = Clock::standing_at(START_MS);
        let mut keys = None;
        let service = Service::start(config.clone(), clock.clone(), Chance::system(), routes, |app| {
            keys = Some((make_keys(&app.store, "ours"), make_keys(&app.store, "theirs")));
            // The clockwork would do it a moment later; a test must not meet that moment.
            app.scan_self()?;
            Ok(())
        })
        .unwrap();
        let (ours, theirs) = keys.unwrap();
        House { service: Some(service), clock, config, ours, theirs, _folder: folder }
    }

    pub fn service(&self) -> &Service {
        self.service.as_ref().unwrap()
    }

    pub fn call(&self, method: &str, target: &str) -> Call {
        Call::new(self.service().address, method, target)
    }

    pub fn get(&self, target: &str) -> Call {
        self.call("GET", target)
    }

    /// Stops the service and starts it again on the same file with the same clock.
    pub fn restart(&mut self) {
        self.service.take().unwrap().stop().unwrap();
        self.start_again();
    }

    /// Starts a service that was stopped, on the same file with the same clock.
    pub fn start_again(&mut self) {
        let service =
            Service::start(self.config.clone(), self.clock.clone(), Chance::system(), ROUTES, |_| Ok(()))
                .unwrap();
        self.service = Some(service);
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(service) = self.service.take() {
            let _ = service.stop();
        }
    }
}

fn make_keys(store: &Store, tenant: &str) -> Keys {
    let id = store.create_tenant(tenant).unwrap();
    let make = |name: &str, permissions: Permissions, expires_at_ms: Option<i64>| {
        let new = NewKey { name: name.into(), permissions, expires_at_ms, created_by: None };
        let (key, secret) = store.create_key(&id, new).unwrap();
        (key.id, secret.reveal().to_owned())
    };
    let none = Permissions::default();
    let (revoked_id, revoked) = make("revoked", Permissions::all(), None);
    store.revoke_key(&revoked_id).unwrap();
    Keys {
        reader: make("reader", none, None).1,
        writer: make("writer", none.with(Permission::Write), None).1,
        manager: make("manager", none.with(Permission::ManageKeys), None).1,
        all: make("all", Permissions::all(), None).1,
        expired: make("expired", Permissions::all(), Some(START_MS)).1,
        revoked,
    }
}
