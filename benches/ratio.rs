//! `cargo bench`: Holdfast beside a bare hyper server that sends the same bytes.
//!
//! Both run on one core, the load (wrk, 16 connections) on another, in turns within
//! one run, so that a noisy machine is noisy to both; the figure is the median of
//! the rounds' ratios. `cargo bench -- ROUNDS SECONDS` changes how long it takes.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, body::Incoming};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const HOLDFAST: &str = env!("CARGO_BIN_EXE_holdfast");
const SERVER_CORE: &str = "0";
const LOAD_CORE: &str = "1";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some("bare") => bare(&arguments[1]),
        Some(rounds) => run(
            rounds.parse().expect("rounds"),
            arguments.get(1).map_or(2, |text| text.parse().expect("seconds")),
        ),
        None => run(7, 2),
    }
}

/// The baseline: hyper, one payload, nothing else.
fn bare(file: &str) {
    let payload = Bytes::from(std::fs::read(file).expect("payload"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("port");
    listener.set_nonblocking(true).expect("nonblocking");
    println!("listening on http://{}", listener.local_addr().expect("address"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("runtime");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("listener");
        loop {
            let (stream, _) = listener.accept().await.expect("connection");
            let _ = stream.set_nodelay(true);
            let payload = payload.clone();
            tokio::spawn(async move {
                let service = service_fn(move |_: hyper::Request<Incoming>| {
                    let payload = payload.clone();
                    async move {
                        let mut response = Response::new(Full::new(payload));
                        response
                            .headers_mut()
                            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                        Ok::<_, Infallible>(response)
                    }
                });
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
}

struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(program: &str, arguments: &[&str], env: &[(&str, &str)]) -> Server {
        let mut child = Command::new("taskset")
            .args(["-c", SERVER_CORE, program])
            .args(arguments)
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .expect("taskset and the server start");
        let lines = BufReader::new(child.stdout.take().expect("output")).lines();
        let url = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .expect("the server says where it listens");
        Server { child, url }
    }

    /// Clock ticks of processor time so far.
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("stat");
        let fields: Vec<&str> = stat.rsplit_once(')').expect("name").1.split_whitespace().collect();
        fields[11].parse::<u64>().expect("utime") + fields[12].parse::<u64>().expect("stime")
    }

    fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("VmRSS");
        line.split_whitespace().nth(1).expect("number").parse().expect("number")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(rounds: usize, seconds: u64) {
    let folder = tempfile::tempdir().expect("folder");
    let database = folder.path().join("bench.db");
    let env = [("HOLDFAST_RATE_LIMITS", "off")];
    let arguments = ["--db", database.to_str().expect("path"), "--listen", "127.0.0.1:0"];
    let ours = Server::start(HOLDFAST, &arguments, &env);
    let secret = std::fs::read_to_string(folder.path().join("bench.db.first-run")).expect("first-run file");
    let key = secret.split_whitespace().find(|word| word.starts_with("hfast_")).expect("key").to_owned();
    std::thread::sleep(Duration::from_secs(1));
    let idle_first_kib = ours.resident_kib();

    seed(&database, 10_000);
    let ids = finding_ids(&ours.url, &key);

    println!(
        "{rounds} rounds of {seconds} s, 16 connections, server on core {SERVER_CORE}, load on core {LOAD_CORE}\n"
    );
    println!(
        "{:<44} {:>8} {:>10} {:>10} {:>7} {:>9}",
        "what", "bytes", "bare/s", "ours/s", "ratio", "cpu ratio"
    );
    let bench = Bench { ours: &ours, folder: folder.path(), rounds, seconds };
    for (what, path, keyed) in [
        ("GET /api/ping", "/api/ping", false),
        ("GET /api/risk-register", "/api/risk-register", false),
        ("GET /api/measures", "/api/measures", false),
        ("GET /api/v1/dora/measures?limit=50", "/api/v1/dora/measures?limit=50", true),
        ("GET /api/v2/risk-register?limit=50", "/api/v2/risk-register?limit=50", true),
        ("50 of 10,000 findings, repeated", "/api/v1/findings?limit=50", true),
    ] {
        let header = keyed.then(|| format!("Authorization: Bearer {key}"));
        bench.compare(what, path, header.as_deref());
    }
    let header = format!("Authorization: Bearer {key}");
    bench.compare_varied(
        "50 of 10,000 findings, first time",
        "/api/v1/findings?limit=50&offset=0",
        &header,
        // The same page under ever other spellings: a cache finds it under none of them.
        "local n = 0; request = function() n = n % 900 + 1; \
         return wrk.format(nil, '/api/v1/findings?limit=50&offset=' .. string.rep('0', n)) end",
    );
    let list = ids.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(",");
    bench.compare_varied(
        "one finding by id, first time, to bare ping",
        "",
        &header,
        &format!(
            "local ids = {{{list}}}; local n = 0; request = function() n = n % #ids + 1; \
             return wrk.format(nil, '/api/v1/findings/' .. ids[n]) end"
        ),
    );
    let after_kib = ours.resident_kib();
    drop(ours);

    println!();
    let existing = starts(&arguments, 15, || {});
    let fresh = starts(&arguments, 7, || {
        for ending in ["", "-wal", "-shm", ".lock", ".first-run"] {
            let _ = std::fs::remove_file(format!("{}{ending}", database.display()));
        }
    });
    println!("start to first answer, existing database     {existing:>8.1} ms");
    println!("start to first answer, new database          {fresh:>8.1} ms");
    let again = Server::start(HOLDFAST, &arguments, &env);
    std::thread::sleep(Duration::from_secs(1));
    println!(
        "resident, idle, existing database            {:>8.1} MiB",
        again.resident_kib() as f64 / 1024.0
    );
    println!("resident, idle, after a first run            {:>8.1} MiB", idle_first_kib as f64 / 1024.0);
    println!("resident, after load                         {:>8.1} MiB", after_kib as f64 / 1024.0);
    let bytes = std::fs::metadata(HOLDFAST).expect("binary").len();
    println!("binary, stripped                             {:>8.1} MiB", bytes as f64 / 1024.0 / 1024.0);
}

/// Findings of some 450 bytes each, so that a page of 50 has the 22 KB that was measured elsewhere.
fn seed(database: &Path, findings: usize) {
    let text = "The restore took too long.";
    let rows: Vec<String> = (0..findings)
        .map(|number| {
            let severity = ["critical", "high", "medium", "low"][number % 4];
            format!(
                r#"{{"title":"Finding {number}: backup of a critical system","severity":"{severity}","description":"{text}","owner":"Head of infrastructure"}}"#
            )
        })
        .collect();
    let file = database.with_extension("json");
    std::fs::write(&file, format!("{{\"findings\":[{}]}}", rows.join(","))).expect("file");
    let status = Command::new(HOLDFAST)
        .args(["import", "--tenant", "default", "--no-events", "--db"])
        .args([database, &file])
        .stdout(Stdio::null())
        .status()
        .expect("import runs");
    assert!(status.success());
    // The running server hears of it within a second.
    std::thread::sleep(Duration::from_secs(1));
}

fn finding_ids(url: &str, key: &str) -> Vec<String> {
    let header = format!("Authorization: Bearer {key}");
    let mut ids = Vec::new();
    for page in 0..6 {
        let body = fetch(url, &format!("/api/v1/findings?limit=500&offset={}", page * 500), Some(&header));
        let text = String::from_utf8(body).expect("text");
        ids.extend(text.split("\"id\":\"").skip(1).map(|rest| rest[..30].to_owned()));
    }
    ids
}

struct Bench<'a> {
    ours: &'a Server,
    folder: &'a Path,
    rounds: usize,
    seconds: u64,
}

/// What is asked of our server.
enum Asked<'a> {
    /// One address, again and again.
    One(&'a str),
    /// Addresses that differ, made by a script, so that no page is ready.
    Varied(&'a Path),
}

impl Bench<'_> {
    /// One address of ours against the same bytes from the baseline.
    fn compare(&self, what: &str, path: &str, header: Option<&str>) {
        let body = fetch(&self.ours.url, path, header);
        self.measure(what, &body, header, &Asked::One(path));
    }

    /// Requests that differ; the baseline sends one sample, or a pong.
    fn compare_varied(&self, what: &str, sample: &str, header: &str, script: &str) {
        let lua = self.folder.join("vary.lua");
        std::fs::write(&lua, script).expect("script");
        let body = match sample {
            "" => br#"{"pong":true,"time":"2026-11-15T08:00:00Z"}"#.to_vec(),
            path => fetch(&self.ours.url, path, Some(header)),
        };
        self.measure(what, &body, Some(header), &Asked::Varied(&lua));
    }

    fn measure(&self, what: &str, body: &[u8], header: Option<&str>, asked: &Asked) {
        let file = self.folder.join("payload.json");
        std::fs::write(&file, body).expect("payload");
        let this = std::env::current_exe().expect("this program");
        let bare = Server::start(this.to_str().expect("path"), &["bare", file.to_str().expect("path")], &[]);
        let load = |server: &Server, path: &str, script: Option<&Path>| {
            let before = server.ticks();
            let (requests, per_second) = wrk(&format!("{}{path}", server.url), header, self.seconds, script);
            (per_second, (server.ticks() - before) as f64 / requests)
        };
        let load_ours = || match asked {
            Asked::One(path) => load(self.ours, path, None),
            Asked::Varied(script) => load(self.ours, "/", Some(script)),
        };
        let mut rates = Vec::new();
        for round in 0..self.rounds {
            let (first, second);
            if round % 2 == 0 {
                first = load(&bare, "/", None);
                second = load_ours();
            } else {
                second = load_ours();
                first = load(&bare, "/", None);
            }
            rates.push((first, second));
        }
        let ratio = median(rates.iter().map(|(bare, ours)| ours.0 / bare.0));
        let cpu = median(rates.iter().map(|(bare, ours)| bare.1 / ours.1));
        let bare_rate = median(rates.iter().map(|(bare, _)| bare.0));
        let our_rate = median(rates.iter().map(|(_, ours)| ours.0));
        println!("{what:<44} {:>8} {bare_rate:>10.0} {our_rate:>10.0} {ratio:>7.2} {cpu:>9.2}", body.len());
    }
}

/// Requests made, and requests per second.
fn wrk(url: &str, header: Option<&str>, seconds: u64, script: Option<&Path>) -> (f64, f64) {
    let mut command = Command::new("taskset");
    command.args(["-c", LOAD_CORE, "wrk", "-t1", "-c16", &format!("-d{seconds}s")]);
    if let Some(header) = header {
        command.args(["-H", header]);
    }
    if let Some(script) = script {
        command.arg("-s").arg(script);
    }
    let output = command.arg(url).output().expect("wrk runs: apt-get install wrk");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains("Non-2xx"), "errors under load:\n{text}");
    let number_before = |word: &str| {
        let line =
            text.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("wrk said:\n{text}"));
        line.split_whitespace().find_map(|part| part.parse::<f64>().ok()).expect("number")
    };
    (number_before("requests in"), number_before("Requests/sec"))
}

fn fetch(url: &str, path: &str, header: Option<&str>) -> Vec<u8> {
    let mut request = ureq::get(format!("{url}{path}"));
    if let Some((name, value)) = header.and_then(|header| header.split_once(": ")) {
        request = request.header(name, value);
    }
    request.call().expect("answer").body_mut().read_to_vec().expect("body")
}

/// The median time from the start of the process to its first answer.
fn starts(arguments: &[&str], times: usize, before_each: impl Fn()) -> f64 {
    median((0..times).map(|_| {
        before_each();
        let began = Instant::now();
        let mut child =
            Command::new(HOLDFAST).args(arguments).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("output"));
        let url = loop {
            line.clear();
            assert!(output.read_line(&mut line).expect("line") > 0, "the server ended");
            if let Some(url) = line.trim().strip_prefix("listening on http://") {
                break url.to_owned();
            }
        };
        let mut stream = TcpStream::connect(url).expect("connection");
        stream.write_all(b"GET /api/healthz HTTP/1.1\r\nHost: x\r\n\r\n").expect("request");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("answer");
        let took = began.elapsed();
        assert_eq!(&answer, b"HTTP/1.1 200");
        // TERM, not KILL: an orderly end leaves the database as a stopped service does.
        let _ = Command::new("kill").arg(child.id().to_string()).status();
        let _ = child.wait();
        took.as_secs_f64() * 1000.0
    }))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
