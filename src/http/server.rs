//! The server's edge: connections, time-outs, caps, and the graceful stop.
//!
//! The only file on a request's road that waits for sockets. A bounded read runs
//! right here; what may wait for the disk runs on a thread aside, so that it cannot
//! hold up the loop.

use super::dispatch::{House, Ticket};
use super::finish;
use super::peer::{self, Peer};
use super::reply::Reply;
use super::route::Route;
use super::router::Door;
use super::stream::Impatient;
use crate::error::Error;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::CONTENT_LENGTH;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// The largest head.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// The largest body, but for the rows that take files.
pub const BODY_BYTES_MAX: usize = 256 * 1024;
/// So much of an unwanted body is read and thrown away, so that the client gets to see the refusal.
const DRAIN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// And for so long.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections that the system has accepted and we have not, at the most.
const BACKLOG_MAX: usize = 1024;
/// The pause when the system has no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop` is done, then lets begun requests finish.
pub async fn run(
    house: Arc<House>,
    door: Door,
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let open = Arc::new(AtomicUsize::new(0));
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, address)) => {
                let client = Client { house: Arc::clone(&house), door, peer: Peer(Some(address.ip())) };
                admit(client, stream, acceptor.clone(), graceful.watcher(), &open);
            }
            Err(cause) => {
                log::warn!("accepting a connection: {cause}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // Who was connected before the stop is served; beyond that there has to be an end.
    for _ in 0..BACKLOG_MAX {
        let accepted = tokio::select! {
            biased;
            accepted = listener.accept() => accepted,
            () = std::future::ready(()) => break,
        };
        let Ok((stream, address)) = accepted else { break };
        let client = Client { house: Arc::clone(&house), door, peer: Peer(Some(address.ip())) };
        admit(client, stream, acceptor.clone(), graceful.watcher(), &open);
    }
    drop(listener);
    house.app.stopping.store(true, Ordering::SeqCst);
    if timeout(house.app.config.patience.stop, graceful.shutdown()).await.is_err() {
        log::warn!("some connections did not finish in time and are cut");
    }
}

/// Who is connected, and to what.
#[derive(Clone)]
struct Client {
    house: Arc<House>,
    door: Door,
    peer: Peer,
}

/// Over the cap a connection is closed at once; that is kinder than a silence.
fn admit(
    client: Client,
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    watcher: Watcher,
    open: &Arc<AtomicUsize>,
) {
    let place = Place::take(open);
    if place.number > client.house.app.config.connections_max {
        return;
    }
    let _ = stream.set_nodelay(true);
    tokio::spawn(async move {
        let _place = place;
        let patience = client.house.app.config.patience;
        match acceptor {
            None => connection(client, Impatient::new(stream, patience.write), watcher).await,
            Some(acceptor) => {
                if let Ok(Ok(stream)) = timeout(patience.handshake, acceptor.accept(stream)).await {
                    connection(client, Impatient::new(stream, patience.write), watcher).await;
                }
            }
        }
    });
}

/// A place among the open connections, given back when dropped.
struct Place {
    open: Arc<AtomicUsize>,
    number: usize,
}

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Place {
        Place { number: open.fetch_add(1, Ordering::Relaxed) + 1, open: Arc::clone(open) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin + 'static>(
    client: Client,
    stream: S,
    watcher: Watcher,
) {
    let head_timeout = client.house.app.config.patience.head;
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let client = client.clone();
        async move {
            let (mut head, body) = request.into_parts();
            head.extensions.insert(client.peer);
            Ok::<_, Infallible>(exchange(client, head, body).await)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .max_header_size(HEAD_BYTES_MAX)
        // A client that has said all it wants to say still waits for its answer.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    // A broken connection is the client's affair; there is nobody left to tell.
    let _ = watcher.watch(connection).await;
}

/// One request and its answer.
async fn exchange(client: Client, head: Parts, body: Incoming) -> Response<Full<Bytes>> {
    let Client { house, door, peer: _ } = client;
    let started_us = house.app.clock.elapsed_us();
    let mut ticket = house.admit(&head, door);
    if ticket.passage.store_now {
        store_window(&house, &ticket).await;
    }
    let route = house.route(&ticket);
    let wants_body = ticket.is_open() && route.is_some_and(Route::wants_body);
    let reply = match wants_body {
        true => {
            match read(&head, body, body_max(&house, &ticket).await, house.app.config.patience.body).await {
                Ok(body) => answer(&house, &mut ticket, body, true).await,
                Err(reply) => reply,
            }
        }
        false => {
            if !body.is_end_stream() {
                drain(&head, body).await;
            }
            let aside = ticket.is_open()
                && route.is_some_and(|route| route.runs_aside(head.uri.query().unwrap_or_default()));
            answer(&house, &mut ticket, Bytes::new(), aside).await
        }
    };
    let response = finish::response(&house, &head, &ticket, reply);
    let micros = house.app.clock.elapsed_us().saturating_sub(started_us);
    house.app.meter.count(ticket.row, response.status().as_u16(), micros, started_us + micros);
    if log::log_enabled!(target: "holdfast::request", log::Level::Info) {
        note(&house, &head, &ticket, &response, micros);
    }
    response
}

async fn answer(house: &Arc<House>, ticket: &mut Ticket, body: Bytes, aside: bool) -> Reply {
    if !aside {
        return house.answer(ticket, &body);
    }
    let shared = Arc::clone(house);
    let mut moved = ticket.take();
    let ran = tokio::task::spawn_blocking(move || {
        let reply = shared.answer(&mut moved, &body);
        (moved, reply)
    });
    match ran.await {
        Ok((back, reply)) => {
            *ticket = back;
            reply
        }
        Err(cause) => house.settle(ticket, Err(Error::internal("running a handler", cause))),
    }
}

/// A new block is on the disk before its answer leaves; if the disk refuses, it still holds in memory.
async fn store_window(house: &Arc<House>, ticket: &Ticket) {
    let Some(caller) = ticket.passage.caller.clone() else { return };
    let shared = Arc::clone(house);
    let stored = tokio::task::spawn_blocking(move || {
        let limiter = Arc::clone(&shared.app.limiter);
        shared.app.store.save_windows(move || limiter.saved_now(&caller.key.id))
    });
    match stored.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => log::error!("storing a rate window: {error}"),
        Err(cause) => log::error!("storing a rate window: {cause}"),
    }
}

/// So much of a body is read. A file only from whoever is signed in: strangers must not fill the memory.
async fn body_max(house: &Arc<House>, ticket: &Ticket) -> usize {
    let file_max = house.route(ticket).map_or(0, |route| route.file_max);
    let Some(cookie) = ticket.session_cookie().filter(|_| file_max > 0).map(str::to_owned) else {
        return BODY_BYTES_MAX;
    };
    let shared = Arc::clone(house);
    let known = tokio::task::spawn_blocking(move || shared.app.store.session(&cookie)).await;
    if matches!(known, Ok(Ok(Some(_)))) { BODY_BYTES_MAX + file_max } else { BODY_BYTES_MAX }
}

/// The whole body, under its cap and its deadline.
async fn read(head: &Parts, body: Incoming, bytes_max: usize, patience: Duration) -> Result<Bytes, Reply> {
    let too_large = || Reply::of_error(&Error::TooLarge { limit_bytes: bytes_max }, None);
    let announced =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > bytes_max as u64) {
        drain(head, body).await;
        return Err(too_large());
    }
    match timeout(patience, Limited::new(body, bytes_max).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(cause)) if cause.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Reply::refusal(StatusCode::BAD_REQUEST, "the body broke off")),
        Err(_) => Err(Reply::refusal(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")),
    }
}

/// Reads and forgets what nobody wants, within reason: a client that is still sending would else see
/// a broken connection instead of the answer.
async fn drain(head: &Parts, body: Incoming) {
    if head.headers.contains_key(hyper::header::EXPECT) {
        return; // This client waits to be asked, and it is not asked.
    }
    let _ = timeout(DRAIN_TIMEOUT, async {
        let mut body = body;
        let mut seen = 0;
        while seen < DRAIN_BYTES_MAX {
            match body.frame().await {
                Some(Ok(frame)) => seen += frame.data_ref().map_or(0, Bytes::len),
                Some(Err(_)) | None => return,
            }
        }
    })
    .await;
}

/// The line of a request: never a query, a header or a body.
fn note(house: &House, head: &Parts, ticket: &Ticket, response: &Response<Full<Bytes>>, micros: u64) {
    let route = house.route(ticket).map_or("-", |route| route.path);
    let key = ticket.passage.caller.as_ref().map(|caller| &caller.key);
    let request_id = ticket.request_id.to_str().unwrap_or("-");
    let method: String = head.method.as_str().chars().take(20).collect();
    let status = response.status().as_u16();
    let peer = peer::address(head, house.app.config.behind_proxy);
    log::info!(
        target: "holdfast::request",
        req_id = request_id,
        method = method.as_str(),
        route_template = route,
        status = status,
        dur_us = micros,
        bytes = response.body().size_hint().exact().unwrap_or(0),
        tenant_id = key.map_or("", |key| key.tenant_id.as_str()),
        kid = key.map_or("", |key| key.id.as_str()),
        peer = peer.map(|peer| peer.to_string()).unwrap_or_default().as_str();
        "{method} {route} {status} {}.{:03}ms key={} id={request_id}",
        micros / 1000,
        micros % 1000,
        key.map_or("-", |key| key.prefix.as_str()),
    );
}
