//! `cargo bench --bench pages`: how long does a page of the workspace take, and how large is it?
//!
//! Every page of the table of pages, found by following links as its owner, on the demo tenant and on the same with
//! 10,000 findings more. Prints the median and the slowest of each page beside those of `/api/healthz`.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use holdfast::http::route::Verb;
use holdfast::pages::PAGES;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const HOLDFAST: &str = env!("CARGO_BIN_EXE_holdfast");
const MORE_FINDINGS: usize = 10_000;
const REQUESTS: usize = 15;
const EMAIL: &str = "owner@bench.example";
const PASSWORD: &str = "teal gravel onion ferry";

fn main() {
    let folder = tempfile::tempdir().expect("folder");
    let database = folder.path().join("demo.db");
    let server = Server::start(&database);
    let tenant = tenant_of(&database);
    run(
        &["user", "create", "--tenant", &tenant, "--email", EMAIL, "--role", "owner", "--name", "O"],
        &database,
        PASSWORD,
    );
    let cookie = sign_in(&server);
    measure("demo tenant", &server, &cookie);
    let file = folder.path().join("findings.json");
    std::fs::write(&file, findings()).expect("file");
    run(&["import", "--tenant", &tenant, "--no-events", file.to_str().expect("path")], &database, "");
    measure(&format!("demo tenant and {MORE_FINDINGS} findings"), &server, &cookie);
}

fn measure(what: &str, server: &Server, cookie: &str) {
    println!("\n{what}: median and slowest of {REQUESTS}, milliseconds; size, KiB");
    let (median, slowest, bytes) = times(server, cookie, "/api/healthz");
    println!("{:<40} {median:>8.2} {slowest:>8.2} {:>8.1}", "/api/healthz", bytes as f64 / 1024.0);
    let mut rows: Vec<_> = crawl(server, cookie)
        .into_iter()
        .map(|(pattern, path)| (pattern, times(server, cookie, &path)))
        .collect();
    rows.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    for (pattern, (median, slowest, bytes)) in rows {
        println!("{pattern:<40} {median:>8.2} {slowest:>8.2} {:>8.1}", bytes as f64 / 1024.0);
    }
}

/// An address of each page that links lead to.
fn crawl(server: &Server, cookie: &str) -> BTreeMap<&'static str, String> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::from(["/".to_owned()]);
    let mut queue = VecDeque::from(["/".to_owned()]);
    while let Some(path) = queue.pop_front() {
        let Some(pattern) = pattern_of(&path) else { continue };
        if found.contains_key(pattern) {
            continue;
        }
        let (_, body) = server.get(&path, cookie);
        found.insert(pattern, path);
        for link in body.split("href=\"/").skip(1).filter_map(|rest| rest.split(['"', '#']).next()) {
            let link = format!("/{}", link.replace("&#38;", "&").replace("&amp;", "&"));
            if seen.insert(link.clone()) {
                queue.push_back(link);
            }
        }
    }
    found
}

/// The page's row: the one without a name in its path goes first.
fn pattern_of(address: &str) -> Option<&'static str> {
    let path = address.split('?').next().unwrap_or(address);
    let parts: Vec<&str> = path.split('/').collect();
    let fits = |pattern: &str| {
        let asked: Vec<&str> = pattern.split('/').collect();
        asked.len() == parts.len()
            && asked.iter().zip(&parts).all(|(asked, part)| asked == part || asked.starts_with('{'))
    };
    let mut rows: Vec<_> = PAGES.iter().filter(|row| row.verb == Verb::Get && fits(row.path)).collect();
    rows.sort_by_key(|row| row.path.contains('{'));
    rows.first().map(|row| row.path)
}

fn times(server: &Server, cookie: &str, path: &str) -> (f64, f64, usize) {
    let mut bytes = 0;
    let mut times: Vec<f64> = (0..REQUESTS)
        .map(|_| {
            let began = Instant::now();
            bytes = server.get(path, cookie).1.len();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[REQUESTS / 2], times[REQUESTS - 1], bytes)
}

fn findings() -> String {
    let one = |number: usize| {
        format!(
            r#"{{"title":"Finding {number} of the yearly restore test","severity":"{}","description":"{}"}}"#,
            ["low", "medium", "high", "critical"][number % 4],
            "The restore took longer than its goal. ".repeat(5)
        )
    };
    format!(r#"{{"findings":[{}]}}"#, (0..MORE_FINDINGS).map(one).collect::<Vec<_>>().join(","))
}

fn tenant_of(database: &Path) -> String {
    let listed = run(&["tenant", "list"], database, "");
    let line = listed.lines().nth(1).expect("a tenant");
    // Id, name, two counts and a day; only the name may have blanks in it.
    let words: Vec<&str> = line.split_whitespace().collect();
    words[1..words.len() - 3].join(" ")
}

fn run(arguments: &[&str], database: &Path, input: &str) -> String {
    let mut child = Command::new(HOLDFAST)
        .args(arguments)
        .arg("--db")
        .arg(database)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    writeln!(child.stdin.take().expect("input"), "{input}").expect("input");
    let output = child.wait_with_output().expect("ends");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn sign_in(server: &Server) -> String {
    let (head, page) = server.get("/sign-in", "");
    let token =
        page.split("name=\"token\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("token");
    let body =
        format!("token={token}&email={EMAIL}&password={}", PASSWORD.replace(' ', "+")).replace('@', "%40");
    let request = format!(
        "POST /sign-in HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nConnection: close\r\nCookie: {1}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {2}\r\n\r\n{body}",
        server.address,
        cookie_in(&head),
        body.len()
    );
    let (head, _) = server.ask(&request);
    assert!(head.starts_with("HTTP/1.1 303"), "{head}");
    cookie_in(&head)
}

fn cookie_in(head: &str) -> String {
    let set = head.lines().find_map(|line| line.strip_prefix("set-cookie: holdfast")).expect("a cookie");
    format!("holdfast{}", set.split(';').next().expect("its value"))
}

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(database: &Path) -> Server {
        let mut child = Command::new(HOLDFAST)
            .args(["demo", "--listen", "127.0.0.1:0", "--db"])
            .arg(database)
            .env("HOLDFAST_RATE_LIMITS", "off")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut lines = BufReader::new(child.stdout.take().expect("output")).lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.strip_prefix("listening on http://")?.to_owned()));
        Server { child, address: address.expect("address") }
    }

    fn get(&self, path: &str, cookie: &str) -> (String, String) {
        let (head, body) = self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCookie: {cookie}\r\n\r\n",
            self.address
        ));
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        (head, body)
    }

    fn ask(&self, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("connection");
        stream.write_all(request.as_bytes()).expect("request");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("answer");
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").expect("head");
        (head.to_owned(), body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
