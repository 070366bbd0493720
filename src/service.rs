//! The running service: started, waited for, stopped.
//!
//! `start` gives a handle, so that a test starts the same service on a free port
//! with a clock of its own.

use crate::app::App;
use crate::chance::Chance;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::Error;
use crate::http::dispatch::House;
use crate::http::server;
use crate::jobs::Clockwork;
use crate::routes::ROUTES;
use crate::store::ServerLock;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// Threads for what waits: each is a place in a group commit.
const WAITING_THREADS_MAX: usize = 64;

/// A service that runs.
pub struct Service {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its parts.
    pub house: Arc<House>,
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<Result<(), Error>>,
    clockwork: Clockwork,
    lock: ServerLock,
}

impl Service {
    /// Takes the lock and the port, opens the database and begins to serve. `before` runs when all is
    /// open and nobody is served yet.
    pub fn start(
        mut config: Config,
        clock: Clock,
        chance: Chance,
        before: impl FnOnce(&App) -> Result<(), Error>,
    ) -> Result<Service, Error> {
        config.refuse_open_plain_http()?;
        let lock = ServerLock::take(&config.db)?;
        let listener = bind(config.listen)?;
        let address = listener.local_addr().map_err(|cause| Error::internal("reading the address", cause))?;
        config.listen = address;
        lower_to_what_the_system_allows(&mut config);
        let app = App::open(config, clock, chance, ROUTES.len())?;
        before(&app)?;
        let house = Arc::new(House::new(app, ROUTES)?);
        let clockwork = Clockwork::start(Arc::clone(&house))?;
        let (stop, stopped) = oneshot::channel();
        let server = serve(Arc::clone(&house), listener, stopped)?;
        Ok(Service { address, house, stop: Some(stop), server, clockwork, lock })
    }

    /// Stops accepting, lets begun requests finish, stores what is in memory and closes the database.
    pub fn stop(mut self) -> Result<(), Error> {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let served = self.server.join().map_err(|_| Error::Internal("the server panicked".into()))?;
        self.clockwork.stop();
        let saved = self.house.app.save_counts();
        // Threads of cut connections may still hold the house; then its end closes the database.
        let closed = match Arc::try_unwrap(self.house) {
            Ok(house) => house.app.store.close(),
            Err(_) => Ok(()),
        };
        drop(self.lock);
        served.and(saved).and(closed)
    }
}

fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    let listener = TcpListener::bind(address)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|cause| Error::invalid(format!("cannot listen on {address}: {cause}")))?;
    Ok(listener)
}

fn serve(
    house: Arc<House>,
    listener: TcpListener,
    stopped: oneshot::Receiver<()>,
) -> Result<JoinHandle<Result<(), Error>>, Error> {
    let runtime = runtime().map_err(|cause| Error::internal("starting the runtime", cause))?;
    std::thread::Builder::new()
        .name("server".into())
        .spawn(move || {
            let served = runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)
                    .map_err(|cause| Error::internal("taking over the socket", cause))?;
                let stopped = async {
                    let _ = stopped.await;
                };
                server::run(house, listener, stopped).await
            });
            runtime.shutdown_background();
            served
        })
        .map_err(|cause| Error::internal("starting the server", cause))
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
