//! The server's edge: slow, silent, huge, broken and many clients.

use crate::client::{Answer, Call};
use crate::house::House;
use crate::process::{Server, Workplace, wait_until};
use holdfast::http::route::Handler::{Service, Tenant};
use holdfast::http::route::Verb::Post;
use holdfast::http::route::{Route, service, v1};
use holdfast::http::{Answer as HandlerAnswer, Reply};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn impatient() -> House {
    House::with(|config| {
        config.patience.head = Duration::from_millis(300);
        config.patience.body = Duration::from_millis(300);
        config.patience.write = Duration::from_millis(300);
        config.patience.stop = Duration::from_secs(5);
        config.limits = None;
    })
}

fn connect(house: &House) -> TcpStream {
    let stream = TcpStream::connect(house.service().address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

/// Everything until the other side closes, and how long that took.
fn until_closed(mut stream: TcpStream) -> (Vec<u8>, Duration) {
    let began = Instant::now();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    (bytes, began.elapsed())
}

#[test]
fn a_silent_client_is_closed() {
    let house = impatient();
    let (bytes, took) = until_closed(connect(&house));
    assert!(bytes.is_empty());
    assert!(took >= Duration::from_millis(250) && took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_client_that_drips_its_head_is_closed() {
    let house = impatient();
    let mut stream = connect(&house);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        if stream.write_all(b"G").is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(began.elapsed() < Duration::from_secs(5), "still open");
}

#[test]
fn an_idle_connection_is_closed_after_its_answer() {
    let house = impatient();
    let mut stream = connect(&house);
    stream.write_all(b"GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let (bytes, took) = until_closed(stream);
    assert!(bytes.starts_with(b"HTTP/1.1 200"));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_body_that_does_not_come_is_408_and_one_that_breaks_off_changes_nothing() {
    let house = impatient();
    let head = format!(
        "POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Length: 60\r\n\r\n",
        house.ours.all
    );
    let mut slow = connect(&house);
    slow.write_all(head.as_bytes()).unwrap();
    slow.write_all(b"{\"name\":").unwrap();
    let (bytes, _) = until_closed(slow);
    let answer = Answer::parse(&bytes);
    assert_eq!(answer.status, 408);
    assert!(answer.error().contains("in time"));
    let mut broken = connect(&house);
    broken.write_all(head.as_bytes()).unwrap();
    broken.write_all(b"{\"name\":").unwrap();
    drop(broken);
    let store = &house.service().house.app.store;
    let keys = store.keys(&store.tenant_id("ours").unwrap()).unwrap();
    assert_eq!(keys.len(), 6, "nobody made a key");
}

#[test]
fn a_client_that_stops_reading_is_left() {
    let house = impatient();
    let mut stream = connect(&house);
    let request = b"GET /api/gap-analysis HTTP/1.1\r\nHost: x\r\n\r\n";
    // Enough answers to fill every buffer between here and there.
    for _ in 0..200 {
        if stream.write_all(request).is_err() {
            break;
        }
    }
    let row = holdfast::routes::ROUTES.iter().position(|route| route.path == "/api/gap-analysis").unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let answered = house.service().house.app.meter.tally(row).requests;
    let (bytes, _) = until_closed(stream);
    assert!(answered < 200, "all was sent: the client never blocked");
    assert!(bytes.len() < 200 * 129_000, "the rest was never sent");
}

#[test]
fn heads_addresses_and_bodies_have_a_largest_size() {
    let house = impatient();
    let long = "x".repeat(9 * 1024);
    let answer = house.get(&format!("/api/ping?{long}")).expect(414);
    assert!(answer.error().contains("8192"));
    house.get(&format!("/api/ping?{}", &long[..8192 - "/api/ping".len()])).expect(200);
    let mut stream = connect(&house);
    let head = format!("GET /api/ping HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", "x".repeat(40_000));
    let _ = stream.write_all(head.as_bytes());
    let (bytes, _) = until_closed(stream);
    assert!(bytes.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&bytes));
    let name = |length: usize| {
        let body = format!("{{\"name\":\"x\"{}}}", " ".repeat(length - 12));
        house.call("POST", "/api/v1/keys").key(&house.ours.all).body(body)
    };
    name(256 * 1024).expect(201);
    let answer = name(256 * 1024 + 1).expect(413);
    assert!(answer.error().contains("262144"));
    name(3 * 1024 * 1024).expect(413);
}

#[test]
fn a_chunked_body_over_the_cap_is_413_too() {
    let house = impatient();
    let mut stream = connect(&house);
    let head = format!(
        "POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        house.ours.all
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..5 {
        let _ = stream.write_all(chunk.as_bytes());
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    let (bytes, _) = until_closed(stream);
    assert!(bytes.starts_with(b"HTTP/1.1 413"), "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn broken_requests_get_400_or_nothing_and_never_a_second_answer() {
    let house = impatient();
    for request in [
        "GET /api/ping HTTP/1.1\r\n\r\n",
        "GET /api/ping HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n",
        "GET /api/ping HTTP/9.9\r\nHost: x\r\n\r\n",
        "GET /api/ping\r\n\r\n",
        "G E T /api/ping HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /api/ping HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "GET /api/ping HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "GET /api/ping HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: banana\r\n\r\n",
        "GET /api/ping HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET /api/ping HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}",
        "\r\n\r\n\r\n\u{0}",
    ] {
        let mut stream = connect(&house);
        let _ = stream.write_all(request.as_bytes());
        let (bytes, took) = until_closed(stream);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 400"), "{request:?}: {text}");
        assert!(text.matches("HTTP/1.1").count() <= 1, "{request:?}: {text}");
        assert!(took < Duration::from_secs(5), "{request:?}");
    }
    house.get("/api/ping").expect(200);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let house = impatient();
    let mut stream = connect(&house);
    let mut all = String::new();
    for number in 0..200 {
        all.push_str(&format!("GET /api/ping HTTP/1.1\r\nHost: x\r\nX-Request-Id: r{number}\r\n\r\n"));
    }
    stream.write_all(all.as_bytes()).unwrap();
    let (bytes, _) = until_closed(stream);
    let text = String::from_utf8(bytes).unwrap();
    let seen: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("x-request-id: ")).map(str::trim).collect();
    assert_eq!(seen, (0..200).map(|number| format!("r{number}")).collect::<Vec<_>>());
}

#[test]
fn a_client_that_has_said_all_still_gets_its_answer() {
    let house = House::new();
    for _ in 0..5 {
        let mut stream = connect(&house);
        let body = "{\"name\":\"half\"}";
        let head = format!(
            "POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: {}\r\nContent-Length: {}\r\n\r\n{body}",
            house.ours.all,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let (bytes, _) = until_closed(stream);
        assert_eq!(Answer::parse(&bytes).status, 201);
    }
}

#[test]
fn a_body_of_nothing_but_faults_is_answered_in_brief() {
    let house = House::new();
    let fields: Vec<String> = (0..30_000).map(|number| format!("\"f{number}\":1")).collect();
    let body = format!("{{{}}}", fields.join(","));
    assert!(body.len() < 512 * 1024);
    let body = &body[..body.len().min(256 * 1024 - 10)];
    let body = format!("{}}}", &body[..body.rfind(',').unwrap()]);
    let answer = house.call("POST", "/api/v1/keys").key(&house.ours.all).body(body).expect(422);
    assert!(answer.body.len() < 20_000, "{} bytes", answer.body.len());
    assert!(answer.error().contains("more faults"));
}

#[test]
fn http_1_0_and_connection_close_are_understood() {
    let house = House::new();
    for request in
        ["GET /api/ping HTTP/1.0\r\n\r\n", "GET /api/ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"]
    {
        let mut stream = connect(&house);
        stream.write_all(request.as_bytes()).unwrap();
        let (bytes, took) = until_closed(stream);
        assert_eq!(Answer::parse(&bytes).status, 200);
        assert!(took < Duration::from_secs(2));
    }
}

static PANICS: &[Route] = &[
    service("/api/boom", Service(|_| panic!("on purpose"))).says("Panics."),
    v1(Post, "/api/v1/boom", Tenant(|_, _| panic!("on purpose, aside"))).says("Panics aside."),
    service("/api/fine", Service(fine)).says("Does not."),
];

fn fine(_: &holdfast::app::App) -> HandlerAnswer {
    Ok(Reply::empty())
}

#[test]
fn a_panic_costs_its_request_and_nothing_more() {
    let house = House::with_routes(PANICS, |config| config.limits = None);
    for _ in 0..100 {
        let answer = house.get("/api/boom").expect(500);
        assert_eq!(answer.body, br#"{"error":"internal server error"}"#);
        house.call("POST", "/api/v1/boom").key(&house.ours.all).expect(500);
    }
    house.get("/api/fine").expect(204);
}

static SLOW_BEGAN: AtomicUsize = AtomicUsize::new(0);
static SLOW_MAY_END: AtomicBool = AtomicBool::new(false);
static SLOW: &[Route] = &[v1(
    Post,
    "/api/v1/slow",
    Tenant(|_, _| {
        SLOW_BEGAN.fetch_add(1, Ordering::SeqCst);
        while !SLOW_MAY_END.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Reply::empty())
    }),
)
.says("Waits.")];

#[test]
fn a_stop_lets_begun_requests_finish_and_takes_no_new_ones() {
    let mut house = House::with_routes(SLOW, |config| config.limits = None);
    let address = house.service().address;
    let key = house.ours.all.clone();
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let key = key.clone();
            std::thread::spawn(move || Call::new(address, "POST", "/api/v1/slow").key(&key).send().status)
        })
        .collect();
    wait_until(Duration::from_secs(10), "the requests", || SLOW_BEGAN.load(Ordering::SeqCst) == 8);
    let service = house.service.take().unwrap();
    let stopping = std::thread::spawn(move || service.stop());
    wait_until(Duration::from_secs(5), "the closed door", || TcpStream::connect(address).is_err());
    SLOW_MAY_END.store(true, Ordering::SeqCst);
    for client in clients {
        assert_eq!(client.join().unwrap(), 204);
    }
    stopping.join().unwrap().unwrap();
}

#[test]
fn a_terminated_server_ends_with_0_and_a_closed_database() {
    let place = Workplace::new();
    let server = place.serve();
    server.get("/api/health").expect(200);
    let mut idle = TcpStream::connect(server.address).unwrap();
    idle.write_all(b"GET /api/pi").unwrap();
    let began = Instant::now();
    assert!(server.stop(Duration::from_secs(15)).success());
    assert!(began.elapsed() < Duration::from_secs(15));
    assert!(!place.folder.path().join("holdfast.db-wal").exists());
}

#[test]
fn over_the_cap_a_connection_is_closed_and_others_go_on() {
    let house = House::with(|config| config.connections_max = 5);
    let held: Vec<TcpStream> = (0..5).map(|_| connect(&house)).collect();
    let mut first = held[0].try_clone().unwrap();
    first.write_all(b"GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut buffer = [0; 12];
    first.read_exact(&mut buffer).unwrap();
    assert_eq!(&buffer, b"HTTP/1.1 200");
    let (bytes, took) = until_closed(connect(&house));
    assert!(bytes.is_empty() && took < Duration::from_secs(2), "{took:?}");
    drop((held, first));
    wait_until(Duration::from_secs(2), "room for others", || {
        TcpStream::connect(house.service().address).is_ok_and(|mut stream| {
            let _ = stream.write_all(b"GET /api/ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            bytes.starts_with(b"HTTP/1.1 200")
        })
    });
}

#[test]
fn ten_thousand_idle_connections_do_not_stop_healthz() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limits = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, maximum: limits.maximum });
    let wanted = 10_000;
    let room = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    assert!(room > wanted + 500, "this machine allows only {room} open files");
    let place = Workplace::new();
    let server = place.serve();
    let mut held = Vec::new();
    for _ in 0..wanted {
        held.push(TcpStream::connect(server.address).unwrap());
        if held.len() % 1000 == 0 {
            server.get("/api/healthz").expect(200);
        }
    }
    for _ in 0..50 {
        server.get("/api/healthz").expect(200);
    }
    // The server itself closes them: their time is the head's time-out of ten seconds.
    let mut last = held.pop().unwrap();
    last.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(last.read(&mut [0; 1]).unwrap(), 0);
    drop(held);
    server.get("/api/healthz").expect(200);
}

#[test]
fn compressed_answers_hold_the_same_bytes() {
    let house = House::with(|config| config.limits = None);
    for path in [
        "/api/measures",
        "/api/modules",
        "/api/openapi.json",
        "/api/v1/dora/measures",
        "/api/v1/exports/measures/csv",
    ] {
        let plain = house.get(path).key(&house.ours.reader).expect(200);
        assert_eq!(plain.header("content-encoding"), None);
        for accepted in ["gzip", "br", "gzip, br;q=0.1"] {
            let packed =
                house.get(path).key(&house.ours.reader).header("Accept-Encoding", accepted).expect(200);
            let unpacked = match packed.header("content-encoding") {
                Some("gzip") => gunzip(&packed.body),
                Some("br") => unbrotli(&packed.body),
                other => panic!("{path} {accepted}: {other:?}"),
            };
            assert_eq!(unpacked, plain.body, "{path} {accepted}");
            assert!(packed.header("vary").unwrap().contains("Accept-Encoding"));
            assert!(packed.body.len() < plain.body.len() / 2, "{path}");
            assert_ne!(packed.header("etag"), plain.header("etag"), "{path}: other bytes, other tag");
        }
    }
    let small = house.get("/api/stats").header("Accept-Encoding", "gzip, br").expect(200);
    assert_eq!(small.header("content-encoding"), None, "too small to be worth it");
}

fn gunzip(packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut plain).unwrap();
    plain
}

fn unbrotli(mut packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    brotli::BrotliDecompress(&mut packed, &mut plain).unwrap();
    plain
}

#[test]
fn with_a_certificate_the_service_speaks_tls_and_nothing_else() {
    let place = Workplace::new();
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let file = |name: &str, text: &str| {
        let path = place.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let cert = file("cert.pem", &certified.cert.pem());
    let key = file("key.pem", &certified.signing_key.serialize_pem());
    let env = [("HOLDFAST_TLS_CERT", cert.as_str()), ("HOLDFAST_TLS_KEY", key.as_str())];
    let server = place.serve_with(&env);
    assert!(server.printed.last().unwrap().starts_with("listening on https://"));
    let agent = |roots: ureq::tls::RootCerts| -> ureq::Agent {
        let tls = ureq::tls::TlsConfig::builder().root_certs(roots).build();
        ureq::Agent::config_builder().tls_config(tls).build().into()
    };
    let url = format!("https://localhost:{}/api/ping", server.address.port());
    let trusted = ureq::tls::Certificate::from_pem(certified.cert.pem().as_bytes()).unwrap();
    let answer = agent(ureq::tls::RootCerts::new_with_certs(&[trusted])).get(&url).call().unwrap();
    assert_eq!(answer.status(), 200);
    assert!(
        agent(ureq::tls::RootCerts::WebPki).get(&url).call().is_err(),
        "a stranger's certificate is not trusted"
    );
    let mut plain = TcpStream::connect(server.address).unwrap();
    plain.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    plain.write_all(b"GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let (bytes, _) = until_closed(plain);
    assert!(!bytes.starts_with(b"HTTP"), "plain HTTP was answered");
    assert_open_with_tls(&place, &env);
    let broken = file("broken.pem", "no certificate");
    let output = place
        .command(&["serve", "--listen", "127.0.0.1:0", "--db", "other.db"])
        .env("HOLDFAST_TLS_CERT", &broken)
        .env("HOLDFAST_TLS_KEY", &key)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("broken.pem"));
}

/// With TLS any address may be listened on.
fn assert_open_with_tls(place: &Workplace, env: &[(&str, &str)]) {
    let mut command = place.command(&["serve", "--listen", "0.0.0.0:0", "--db", "open.db"]);
    let server = Server::start(command.envs(env.iter().copied()));
    assert!(server.printed.last().unwrap().contains("0.0.0.0"));
}

#[test]
fn health_says_what_it_checked_and_is_down_while_stopping() {
    let house = House::new();
    let health = house.get("/api/health").expect(200).json();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(health["checks"]["database_read"], "ok");
    house.clock.advance_ms(5_000);
    assert_eq!(house.get("/api/health").expect(200).json()["uptime_seconds"], 5);
    house.service().house.app.stopping.store(true, Ordering::SeqCst);
    let down = house.get("/api/health").expect(503).json();
    assert_eq!(down["status"], "down");
    assert_eq!(house.get("/api/healthz").expect(200).json(), serde_json::json!({ "status": "ok" }));
    let ping = house.get("/api/ping").expect(200).json();
    assert_eq!(ping, serde_json::json!({ "pong": true, "time": "2026-11-15T08:00:05Z" }));
}
