//! `cargo bench --bench scale`: does a tenant among many feel it?
//!
//! One tenant of 5,000 findings alone, and the same tenant among 200 with 1,000,000 findings in all; lists
//! and records that no cache holds, one after the other on one connection, in turns. Prints the medians and
//! their ratio. `cargo bench --bench scale -- TENANTS` for fewer.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const HOLDFAST: &str = env!("CARGO_BIN_EXE_holdfast");
const FINDINGS: usize = 5_000;
const REQUESTS: usize = 2_000;
/// Searches, each walks over all hits of the tenant.
const SEARCHES: usize = 100;
/// What is looked for, and how many of a tenant's findings have it.
const QUESTIONS: &[(&str, &str)] = &[
    ("search: 1 hit", "4321"),
    ("search: 1,000 hits", "quarterly"),
    ("search: 1,000 hits, three words", "quarterly+drill+restore"),
    ("search: 5,000 hits", "restore"),
    ("search: 5,000 hits, four words", "the+restore+took+longer"),
    ("search: a letter", "r"),
    ("search: 1,111 words that begin so", "1"),
];

fn main() {
    let tenants = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(200_usize);
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("findings.json");
    std::fs::write(&file, findings()).expect("file");
    let (small, large) = (folder.path().join("small.db"), folder.path().join("large.db"));
    let small_key = fill(&small, &file, 1);
    let began = Instant::now();
    let large_key = fill(&large, &file, tenants);
    let seconds = began.elapsed().as_secs_f64();
    let rows = tenants * FINDINGS;
    println!("imported {rows} findings in {seconds:.1} s ({:.0} a second)", rows as f64 / seconds);
    let (small, large) = (Server::start(&small), Server::start(&large));
    for (what, path) in
        [("list of 50", "list"), ("record by id", "record"), ("list, filtered by severity", "filter")]
    {
        let mut medians = (Vec::new(), Vec::new());
        for _ in 0..5 {
            medians.0.push(latency_us(&small, &small_key, path));
            medians.1.push(latency_us(&large, &large_key, path));
        }
        let (alone, among) = (median(medians.0), median(medians.1));
        println!(
            "{what:<28} alone {alone:>7.1} us   among {tenants} tenants {among:>7.1} us   ratio {:.2}",
            among / alone
        );
    }
    for (what, words) in QUESTIONS {
        let (alone, among) = (search_us(&small, &small_key, words), search_us(&large, &large_key, words));
        println!(
            "{what:<34} alone {:>8.1} us   among {tenants} tenants {:>8.1} us, slowest {:>8.1} us",
            alone.0, among.0, among.1
        );
    }
    println!(
        "database: {:.0} MiB",
        std::fs::metadata(folder.path().join("large.db")).expect("file").len() as f64 / 1048576.0
    );
}

fn findings() -> String {
    let rows: Vec<String> = (0..FINDINGS)
        .map(|number| {
            let severity = ["critical", "high", "medium", "low"][number % 4];
            let text = "The restore took longer than the recovery time objective allows. ".repeat(2);
            let text = text + if number % 5 == 0 { "Seen in a quarterly drill." } else { "" };
            format!(
                "{{\"title\":\"Finding {number}\",\"severity\":\"{severity}\",\"description\":\"{text}\"}}"
            )
        })
        .collect();
    format!("{{\"findings\":[{}]}}", rows.join(","))
}

/// Makes a database with so many tenants and gives a key of the one in the middle.
fn fill(database: &Path, file: &Path, tenants: usize) -> String {
    let run = |arguments: &[&str]| {
        let output = Command::new(HOLDFAST).arg("--db").arg(database).args(arguments).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    };
    for number in 0..tenants {
        let name = format!("t{number}");
        run(&["tenant", "create", &name]);
        run(&["import", "--tenant", &name, "--no-events", file.to_str().expect("path")]);
    }
    run(&["key", "create", "--tenant", &format!("t{}", tenants / 2), "--name", "bench"])
}

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(database: &Path) -> Server {
        let mut child = Command::new(HOLDFAST)
            .args(["--listen", "127.0.0.1:0", "--db"])
            .arg(database)
            .env("HOLDFAST_RATE_LIMITS", "off")
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("output")).read_line(&mut line).expect("line");
        Server { child, address: line.trim().trim_start_matches("listening on http://").to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn latency_us(server: &Server, key: &str, what: &str) -> f64 {
    let mut stream = TcpStream::connect(&server.address).expect("connection");
    stream.set_nodelay(true).expect("nodelay");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("time-out");
    let ids = if what == "record" { ids(&mut stream, key) } else { Vec::new() };
    let mut times = Vec::with_capacity(REQUESTS);
    for number in 0..REQUESTS {
        let offset = (number * 37) % (FINDINGS / 8);
        let target = match what {
            "record" => format!("/api/v1/findings/{}", ids[number % ids.len()]),
            "filter" => format!("/api/v1/findings?severity=high&limit=50&offset={offset}"),
            _ => format!("/api/v1/findings?limit=50&offset={offset}"),
        };
        let began = Instant::now();
        get(&mut stream, key, &target);
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    median(times)
}

/// The first page of a search: the median, and the slowest.
fn search_us(server: &Server, key: &str, words: &str) -> (f64, f64) {
    let mut stream = TcpStream::connect(&server.address).expect("connection");
    stream.set_nodelay(true).expect("nodelay");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("time-out");
    let mut times = Vec::with_capacity(SEARCHES);
    for _ in 0..SEARCHES {
        let began = Instant::now();
        get(&mut stream, key, &format!("/api/v2/search?q={words}"));
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    let slowest = times.iter().copied().fold(0.0, f64::max);
    (median(times), slowest)
}

fn ids(stream: &mut TcpStream, key: &str) -> Vec<String> {
    let body = get(stream, key, "/api/v1/findings?limit=500");
    body.split("\"id\":\"").skip(1).map(|rest| rest[..30].to_owned()).collect()
}

/// One request on a kept connection.
fn get(stream: &mut TcpStream, key: &str, target: &str) -> String {
    let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("request");
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        let count = stream.read(&mut buffer).expect("answer");
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("length");
        if body.len() >= length.trim().parse::<usize>().expect("number") {
            return body.to_owned();
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
