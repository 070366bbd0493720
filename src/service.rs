//! The running service: started, waited for, stopped.
//!
//! `start` gives a handle, so that a test starts the same service on a free port
//! with a clock of its own.

use crate::app::App;
use crate::chance::Chance;
use crate::clock::Clock;
use crate::config::{Config, Metrics};
use crate::courier::Courier;
use crate::error::Error;
use crate::http::dispatch::House;
use crate::http::route::Route;
use crate::http::router::Door;
use crate::http::{server, tls};
use crate::jobs::JOBS;
use crate::jobs::clockwork::Clockwork;
use crate::pages::SITE;
use crate::store::ServerLock;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Threads for what waits: each is a place in a group commit.
const WAITING_THREADS_MAX: usize = 64;

/// A service that runs.
pub struct Service {
    /// Where it listens.
    pub address: SocketAddr,
    /// Where its figures are shown, if they have an address of their own.
    pub metrics_address: Option<SocketAddr>,
    /// Its parts.
    pub house: Arc<House>,
    stop: watch::Sender<bool>,
    server: JoinHandle<Result<(), Error>>,
    clockwork: Clockwork,
    courier: Courier,
    lock: ServerLock,
}

impl Service {
    /// Takes the lock and the port, opens the database and begins to serve. `before` runs when all is
    /// open and nobody is served yet.
    pub fn start(
        mut config: Config,
        clock: Clock,
        chance: Chance,
        routes: &'static [Route],
        before: impl FnOnce(&App) -> Result<(), Error>,
    ) -> Result<Service, Error> {
        config.refuse_open_plain_http()?;
        let acceptor = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let lock = ServerLock::take(&config.db)?;
        let listener = bind(config.listen)?;
        let address = address_of(&listener)?;
        config.listen = address;
        let figures = match config.metrics {
            Metrics::At(address) => Some(bind(address)?),
            Metrics::Off | Metrics::On => None,
        };
        let metrics_address = figures.as_ref().map(address_of).transpose()?;
        lower_to_what_the_system_allows(&mut config);
        let app = App::open(config, clock, chance, names(routes))?;
        app.sync_timeline_at_start()?;
        before(&app)?;
        let house = Arc::new(House::new(app, routes, &SITE)?);
        let clockwork = Clockwork::start(Arc::clone(&house), JOBS)?;
        let courier = Courier::start(Arc::clone(&house))?;
        let (stop, stopped) = watch::channel(false);
        let shared = Arc::clone(&house);
        let server = serve(move || {
            // Taken over inside the runtime, which a socket of tokio's belongs to.
            let front = tokio::net::TcpListener::from_std(listener)?;
            let figures = figures.map(tokio::net::TcpListener::from_std).transpose()?;
            if let Some(figures) = figures {
                let (shared, stopped) = (Arc::clone(&shared), stopped.clone());
                tokio::spawn(server::run(shared, Door::Metrics, figures, None, stop_of(stopped)));
            }
            Ok(server::run(shared, Door::Front, front, acceptor, stop_of(stopped)))
        })?;
        Ok(Service { address, metrics_address, house, stop, server, clockwork, courier, lock })
    }

    /// Stops accepting, lets begun requests finish, stores what is in memory and closes the database.
    pub fn stop(self) -> Result<(), Error> {
        let _ = self.stop.send(true);
        self.courier.begin_stop();
        let served = self.server.join().map_err(|_| Error::Internal("the server panicked".into()))?;
        self.clockwork.stop();
        self.courier.stop();
        let saved = self.house.app.save_counts();
        // Threads of cut connections, or a job that hangs, may still hold the house; then the log is at least
        // folded into the file.
        let closed = match Arc::try_unwrap(self.house) {
            Ok(house) => house.app.store.close(),
            Err(held) => held.app.store.checkpoint().map(|_| ()),
        };
        drop(self.lock);
        served.and(saved).and(closed)
    }
}

/// What each row is counted and logged under.
fn names(routes: &'static [Route]) -> Vec<String> {
    routes.iter().chain(SITE.pages).map(Route::name).collect()
}

/// Done when somebody asks for a stop, or when nobody is left who could.
async fn stop_of(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}

fn address_of(listener: &TcpListener) -> Result<SocketAddr, Error> {
    listener.local_addr().map_err(|cause| Error::internal("reading the address", cause))
}

fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    let listener = TcpListener::bind(address)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|cause| Error::invalid(format!("cannot listen on {address}: {cause}")))?;
    Ok(listener)
}

/// Runs the server's loop on threads of its own.
fn serve<F: Future<Output = ()>>(
    begin: impl FnOnce() -> std::io::Result<F> + Send + 'static,
) -> Result<JoinHandle<Result<(), Error>>, Error> {
    let broken = |cause: std::io::Error| Error::internal("starting the server", cause);
    let runtime = runtime().map_err(broken)?;
    std::thread::Builder::new()
        .name("server".into())
        .spawn(move || {
            let served = runtime.block_on(async {
                begin().map_err(broken)?.await;
                Ok(())
            });
            runtime.shutdown_background();
            served
        })
        .map_err(broken)
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .thread_name("loop")
        .max_blocking_threads(WAITING_THREADS_MAX)
        .enable_io()
        .enable_time()
        .build()
}

/// Raises the limit on open files to what the system allows, and the cap on connections to no more.
fn lower_to_what_the_system_allows(config: &mut Config) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// Files beside connections: database, log, libraries.
    const OTHER_FILES: u64 = 256;
    let limits = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, maximum: limits.maximum });
    let Some(files) = getrlimit(Resource::Nofile).current else { return };
    let room = usize::try_from(files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX).max(1);
    if room < config.connections_max {
        log::warn!("the system allows {files} open files: at most {room} connections are served at once");
        config.connections_max = room;
    }
}
