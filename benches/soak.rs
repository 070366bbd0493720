//! `cargo bench --bench soak -- SECONDS`: first twenty backups under 500 writes a second, then mixed load for
//! so long (60 if not said), with a backup every 20 seconds, on a database of 20,000 findings: caches fill in the
//! first half, and what grows afterwards is a leak. `HOLDFAST_BIN` names another binary to be tried.
//!
//! It fails (exit 1) when a backup is not whole, a writer waits over 250 ms because of one, an answer is a 5xx,
//! an acknowledged write is gone, or memory, threads or files keep growing.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HOLDFAST: &str = env!("CARGO_BIN_EXE_holdfast");
const WRITES_A_SECOND: u64 = 500;
const WRITERS: u64 = 25;
const BACKUPS: usize = 20;
const STALL_MAX: Duration = Duration::from_millis(250);
/// Requests a second of the soak, and who makes them.
const SOAK_RATE: u64 = 480;
const SOAK_CLIENTS: u64 = 24;
const SOAK_BACKUP_EVERY: Duration = Duration::from_secs(20);
/// How long only writes come before it.
const SOAK_WARM_UP: Duration = Duration::from_secs(15);
/// Findings that are there before the soak.
const SOAK_FINDINGS: u64 = 20_000;

fn main() -> ExitCode {
    let seconds = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(60);
    let mut faults = backups();
    faults.extend(soak(Duration::from_secs(seconds)));
    for fault in &faults {
        println!("FAILED: {fault}");
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The binary that is tried.
fn holdfast() -> String {
    std::env::var("HOLDFAST_BIN").unwrap_or_else(|_| HOLDFAST.into())
}

fn command() -> Command {
    let mut command = Command::new(holdfast());
    command.env_remove("HOLDFAST_BIN");
    command
}

struct Server {
    child: Child,
    address: SocketAddr,
    key: String,
    folder: TempDir,
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(folder.path())
            .env("HOLDFAST_RATE_LIMITS", "off")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let address = lines.find_map(|line| line.strip_prefix("listening on http://")?.parse().ok()).unwrap();
        let text = std::fs::read_to_string(folder.path().join("holdfast.db.first-run")).unwrap();
        let key = text.split_whitespace().find(|word| word.starts_with("hfast_")).unwrap().to_owned();
        Server { child, address, key, folder }
    }

    /// A backup by the command line; how long it took.
    fn backup(&self, name: &str) -> (PathBuf, Duration) {
        let began = Instant::now();
        let done =
            command().args(["backup", name]).current_dir(self.folder.path()).stdout(Stdio::null()).status();
        assert!(done.unwrap().success());
        (self.folder.path().join(name), began.elapsed())
    }

    /// Fills the database, as an operator would.
    fn import(&self, findings: u64) {
        let mut text = String::from("title,severity,description\r\n");
        for number in 0..findings {
            text.push_str(&format!("imported {number},medium,{}\r\n", "d".repeat(200)));
        }
        std::fs::write(self.folder.path().join("findings.csv"), text).unwrap();
        let done = command()
            .args(["import", "--tenant", "default", "--kind", "findings", "findings.csv"])
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .status();
        assert!(done.unwrap().success());
    }

    /// Resident KiB, threads, open files.
    fn figures(&self) -> [u64; 3] {
        let process = PathBuf::from(format!("/proc/{}", self.child.id()));
        let status = std::fs::read_to_string(process.join("status")).unwrap();
        let figure = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse().unwrap()
        };
        let files = std::fs::read_dir(process.join("fd")).unwrap().count() as u64;
        [figure("VmRSS:"), figure("Threads:"), files]
    }

    fn stop(mut self) -> (bool, Duration, TempDir) {
        let began = Instant::now();
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        let status = self.child.wait().unwrap();
        (status.success(), began.elapsed(), self.folder)
    }
}

/// A connection that stays open.
struct Client {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Client {
    fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Client { address, stream: BufReader::new(stream) }
    }

    /// Status and body. A connection that was idle for too long is made anew.
    fn ask(&mut self, request: &str) -> (u16, Vec<u8>) {
        match self.try_ask(request) {
            Ok(answer) => answer,
            Err(_) => {
                *self = Client::connect(self.address);
                self.try_ask(request).unwrap()
            }
        }
    }

    fn try_ask(&mut self, request: &str) -> std::io::Result<(u16, Vec<u8>)> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        let (mut status, mut length) = (0, 0);
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_end().to_ascii_lowercase();
            if let Some(rest) = text.strip_prefix("http/1.1 ") {
                status = rest[..3].parse().unwrap();
            } else if let Some(value) = text.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            } else if text.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, body))
    }
}

fn get(path: &str, key: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n")
}

fn post(title: &str, key: &str) -> String {
    let body =
        format!("{{\"title\":\"{title}\",\"severity\":\"low\",\"description\":\"{}\"}}", "d".repeat(200));
    format!(
        "POST /api/v1/findings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn id_of(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.split_once("\"id\":\"").unwrap().1.split('"').next().unwrap().to_owned()
}

/// What one client saw: when, how long, which status, and the id of what was written.
struct Seen {
    at: Instant,
    took: Duration,
    status: u16,
    id: Option<String>,
}

/// Clients that ask at a steady rate until they are told to stop.
fn load(
    server: &Server,
    clients: u64,
    rate: u64,
    stop: &Arc<AtomicBool>,
    made: &Arc<AtomicU64>,
    request: fn(u64, u64, &str) -> String,
) -> Vec<JoinHandle<Vec<Seen>>> {
    let pause = Duration::from_nanos(1_000_000_000 * clients / rate);
    let began = Instant::now();
    (0..clients)
        .map(|client| {
            let (address, key, stop, made) =
                (server.address, server.key.clone(), Arc::clone(stop), Arc::clone(made));
            std::thread::spawn(move || {
                let mut connection = Client::connect(address);
                let mut seen = Vec::new();
                let first = began + pause * client as u32 / clients as u32;
                for number in 0.. {
                    std::thread::sleep(
                        (first + pause * number as u32).saturating_duration_since(Instant::now()),
                    );
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let request = request(client, number, &key);
                    let at = Instant::now();
                    let (status, body) = connection.ask(&request);
                    let id = (status == 201).then(|| id_of(&body));
                    made.fetch_add(u64::from(id.is_some()), Ordering::SeqCst);
                    seen.push(Seen { at, took: at.elapsed(), status, id });
                }
                seen
            })
        })
        .collect()
}

fn rows(file: &Path) -> HashSet<String> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let verdict: String = connection.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let mut rows = connection.prepare("select id from finding").unwrap();
    let ids = rows.query_map([], |row| row.get(0)).unwrap();
    ids.collect::<rusqlite::Result<_>>().unwrap()
}

fn worst(seen: &[Seen], wanted: impl Fn(&Seen) -> bool) -> Duration {
    seen.iter().filter(|one| wanted(one)).map(|one| one.took).max().unwrap_or_default()
}

/// T-BACKUP
fn backups() -> Vec<String> {
    let server = Server::start();
    let (stop, made) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let began = Instant::now();
    let clients = load(&server, WRITERS, WRITES_A_SECOND, &stop, &made, |client, number, key| {
        post(&format!("{client}-{number}"), key)
    });
    std::thread::sleep(Duration::from_secs(5));
    let quiet_until = Instant::now();
    let mut copies = Vec::new();
    for number in 0..BACKUPS {
        let from = Instant::now();
        let (file, took) = server.backup(&format!("copy-{number}.db"));
        copies.push((from, file, took));
    }
    let noisy_until = Instant::now();
    stop.store(true, Ordering::SeqCst);
    let seen: Vec<Seen> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    let rate = seen.len() as f64 / began.elapsed().as_secs_f64();
    let quiet = worst(&seen, |one| one.at < quiet_until);
    let noisy = worst(&seen, |one| one.at >= quiet_until && one.at <= noisy_until);
    let mut faults = Vec::new();
    for (from, file, _) in &copies {
        let copied = rows(file);
        let acknowledged = seen.iter().filter(|one| one.at + one.took < *from);
        let missing =
            acknowledged.filter(|one| one.id.as_ref().is_none_or(|id| !copied.contains(id))).count();
        if missing > 0 {
            faults.push(format!("{} lacks {missing} acknowledged writes", file.display()));
        }
    }
    let longest = copies.iter().map(|(_, _, took)| *took).max().unwrap_or_default();
    println!(
        "{BACKUPS} backups under {rate:.0} writes/s ({} rows): all whole; longest backup {} ms; longest write {} ms without, {} ms with backups",
        seen.len(),
        longest.as_millis(),
        quiet.as_millis(),
        noisy.as_millis()
    );
    if seen.iter().any(|one| one.status != 201) {
        faults.push("a write failed".into());
    }
    if noisy > STALL_MAX {
        faults.push(format!("a writer waited {} ms", noisy.as_millis()));
    }
    let (ended_well, took, _folder) = server.stop();
    if !ended_well || took > Duration::from_secs(15) {
        faults.push(format!("the stop took {took:?}"));
    }
    faults
}

/// Of a hundred requests 70 read v1, 15 v2, 5 write, 5 read reference data, 5 are wrong.
fn mixed(client: u64, number: u64, key: &str) -> String {
    match (client * 37 + number) % 100 {
        0..=29 => get("/api/v1/findings?limit=50", key),
        30..=49 => get(
            &format!("/api/v1/findings?limit=20&offset={}", (client + number) * 7919 % SOAK_FINDINGS),
            key,
        ),
        50..=69 => get("/api/v1/dora/measures?limit=50", key),
        70..=84 => get("/api/v2/risk-register?limit=50&level=high", key),
        85..=89 => post(&format!("soak {client}-{number}"), key),
        90..=94 => get("/api/health", key),
        95..=96 => get("/api/v1/findings/fnd_nothing", key),
        97 => get("/api/v1/findings?colour=red", key),
        98 => get("/api/v1/findings", "hfast_nonsense"),
        _ => get("/api/nothing", key),
    }
}

/// Mixed load with backups; figures once a second.
fn soak(length: Duration) -> Vec<String> {
    let server = Server::start();
    server.import(SOAK_FINDINGS);
    let (stop, made) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    // SQLite's cache of the writer fills with what is written: at the soak's pace that would take minutes.
    let writers = load(&server, WRITERS, WRITES_A_SECOND, &stop, &made, |client, number, key| {
        post(&format!("warm-up {client}-{number}"), key)
    });
    std::thread::sleep(SOAK_WARM_UP);
    stop.store(true, Ordering::SeqCst);
    let warmed: Vec<Seen> = writers.into_iter().flat_map(|client| client.join().unwrap()).collect();
    stop.store(false, Ordering::SeqCst);
    let clients = load(&server, SOAK_CLIENTS, SOAK_RATE, &stop, &made, mixed);
    let began = Instant::now();
    let mut figures = Vec::new();
    let mut backups = 0;
    while began.elapsed() < length {
        std::thread::sleep(Duration::from_secs(1));
        figures.push(server.figures());
        if began.elapsed() > SOAK_BACKUP_EVERY * (backups + 1) {
            backups += 1;
            server.backup("soak-copy.db");
        }
    }
    stop.store(true, Ordering::SeqCst);
    let mut seen: Vec<Seen> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    seen.sort_by_key(|one| one.at);
    let ids: Vec<&String> = warmed.iter().chain(&seen).filter_map(|one| one.id.as_ref()).collect();
    let wal = std::fs::metadata(server.folder.path().join("holdfast.db-wal")).map_or(0, |meta| meta.len());
    let (ended_well, _, folder) = server.stop();
    let mut faults = judge(&figures, &seen);
    let stored = rows(&folder.path().join("holdfast.db"));
    let lost = ids.iter().filter(|id| !stored.contains(**id)).count();
    println!(
        "soak of {} s: {} requests, {} writes, {lost} lost, {backups} backups, log {} KiB at the end",
        length.as_secs(),
        seen.len(),
        made.load(Ordering::SeqCst),
        wal / 1024
    );
    if lost > 0 {
        faults.push(format!("{lost} acknowledged writes are gone"));
    }
    if !ended_well {
        faults.push("the stop failed".into());
    }
    faults
}

/// Memory, threads and files in the third and the last quarter: until then caches and the pool of readers fill.
fn judge(figures: &[[u64; 3]], seen: &[Seen]) -> Vec<String> {
    let mut faults = Vec::new();
    let warm = &figures[figures.len() / 2..];
    let quarter = (warm.len() / 2).max(1);
    let median = |part: &[[u64; 3]], which: usize| {
        let mut values: Vec<u64> = part.iter().map(|figure| figure[which]).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    for (which, name) in ["resident KiB", "threads", "open files"].into_iter().enumerate() {
        let (first, last) = (median(&warm[..quarter], which), median(&warm[warm.len() - quarter..], which));
        println!("{name}: {first} in the third quarter, {last} in the last");
        let allowed = match which {
            0 => first + first / 20,
            // Threads that wait for the disk come and go; there are 64 at the most.
            1 => first.max(80),
            _ => first + 5,
        };
        if last > allowed {
            faults.push(format!("{name} grew from {first} to {last}"));
        }
    }
    println!("resident memory in the second half: {:+.1} KiB/s", slope(warm));
    let p99 = |part: &[Seen]| {
        let mut values: Vec<Duration> = part.iter().map(|one| one.took).collect();
        values.sort_unstable();
        values[values.len() * 99 / 100]
    };
    let part = seen.len() / 4;
    let (first, last) = (p99(&seen[part..2 * part]), p99(&seen[3 * part..]));
    println!("p99: {} us in the second quarter, {} us in the last", first.as_micros(), last.as_micros());
    let errors = seen.iter().filter(|one| one.status >= 500).count();
    println!("5xx: {errors}");
    if errors > 0 {
        faults.push(format!("{errors} answers were 5xx"));
    }
    faults
}

/// KiB a second, by least squares.
fn slope(figures: &[[u64; 3]]) -> f64 {
    let count = figures.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let mean = figures.iter().map(|figure| figure[0] as f64).sum::<f64>() / count;
    let (mut top, mut bottom) = (0.0, 0.0);
    for (position, figure) in figures.iter().enumerate() {
        let distance = position as f64 - middle;
        top += distance * (figure[0] as f64 - mean);
        bottom += distance * distance;
    }
    if bottom == 0.0 { 0.0 } else { top / bottom }
}
