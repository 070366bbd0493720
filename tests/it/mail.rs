//! Mail through a real SMTP server (aiosmtpd, which tests/run installs): TLS or nothing, and no header that
//! somebody smuggled in.

use crate::house::House;
use crate::process::wait_until;
use holdfast::egress::Relay;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

const SOON: Duration = Duration::from_secs(10);

/// The Python that has aiosmtpd.
fn python() -> PathBuf {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-tools/bin/python");
    assert!(python.exists(), "tests/run installs what this test needs; run it once");
    python
}

/// A server for mail, and what it got.
struct Sink {
    child: Child,
    port: u16,
    letters: Arc<Mutex<Vec<Value>>>,
}

impl Sink {
    fn start(mode: &str, folder: &Path) -> Sink {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/smtp_sink.py");
        let mut child = Command::new(python())
            .arg(script)
            .arg(mode)
            .args([folder.join("cert.pem"), folder.join("key.pem")])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().expect("a port").unwrap().parse().unwrap();
        let letters: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&letters);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                kept.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Sink { child, port, letters }
    }

    fn letters(&self) -> Vec<Value> {
        self.letters.lock().unwrap().clone()
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with a certificate for localhost.
fn certified() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    folder
}

fn house(relay: &str, ca_file: Option<PathBuf>) -> House {
    let relay = Relay::parse(relay, "holdfast@bank.example").unwrap();
    House::with(|config| {
        config.limits = None;
        config.patience.delivery = Duration::from_secs(3);
        config.relay = Some(relay);
        config.ca_file = ca_file;
    })
}

/// Subscribes an address and files a finding; gives the webhook's path.
fn tell(house: &House, address: &str, title: &str) -> String {
    let body = json!({ "name": "Mail", "channel": "email", "url": format!("mailto:{address}"), "events": ["finding.created"] });
    let webhook =
        house.call("POST", "/api/v1/webhooks").key(&house.ours.writer).json(&body).expect(201).json();
    let finding = json!({ "title": title, "severity": "high", "owner": "Ada <ada@bank.example>\r\nBcc: evil@evil.example" });
    house.call("POST", "/api/v1/findings").key(&house.ours.writer).json(&finding).expect(201);
    format!("/api/v1/webhooks/{}", webhook["data"]["id"].as_str().unwrap())
}

fn first_try(house: &House, webhook: &str) -> (Value, Value) {
    let mut delivery = Value::Null;
    wait_until(SOON, "the first try", || {
        let page = house.get(&format!("{webhook}/deliveries")).key(&house.ours.reader).expect(200).json();
        delivery = page["data"][0].clone();
        delivery["log"][0].is_object()
    });
    (delivery["state"].clone(), delivery["log"][0]["outcome"].clone())
}

#[test]
fn a_letter_arrives_over_tls_with_both_parts_and_no_header_of_anybody_elses() {
    let folder = certified();
    for (mode, scheme) in [("starttls", "smtp"), ("wrapped", "smtps")] {
        let sink = Sink::start(mode, folder.path());
        let house =
            house(&format!("{scheme}://localhost:{}", sink.port), Some(folder.path().join("cert.pem")));
        let webhook =
            tell(&house, "ops@bank.example", "Größe\r\nBcc: evil@evil.example\r\n\r\n<b>hidden</b>");
        assert_eq!(first_try(&house, &webhook), (json!("delivered"), json!("delivered")), "{mode}");
        let letters = sink.letters();
        assert_eq!(letters.len(), 1);
        assert_eq!(letters[0]["to"], json!(["ops@bank.example"]), "one recipient");
        assert_eq!(letters[0]["tls"], true);
        let content = letters[0]["content"].as_str().unwrap();
        let (head, parts) = content.split_once("\r\n\r\n").unwrap();
        let names: Vec<&str> = head.lines().filter(|line| !line.starts_with([' ', '\t'])).collect();
        assert!(!names.iter().any(|line| line.to_lowercase().starts_with("bcc")), "{head}");
        for expected in [
            "From: Holdfast <holdfast@bank.example>",
            "To: ops@bank.example",
            "Auto-Submitted: auto-generated",
            "X-Holdfast-Event: finding.created",
            "Date: Sun, 15 Nov 2026 08:00:00 +0000",
        ] {
            assert!(names.contains(&expected), "{expected} in {head}");
        }
        assert!(head.contains("Message-ID: <dlv_") && head.contains("multipart/alternative"), "{head}");
        assert!(parts.contains("text/plain") && parts.contains("text/html"), "{parts}");
        // Quoted-printable breaks its lines.
        let html = parts.split("text/html").nth(1).unwrap().replace("=\r\n", "");
        assert!(!html.contains("<b>hidden") && html.contains("&lt;b&gt;hidden"), "{html}");
    }
}

#[test]
fn without_tls_nothing_leaves_and_a_stranger_is_not_trusted() {
    let folder = certified();
    let stripped = Sink::start("stripped", folder.path());
    let house_one =
        house(&format!("smtp://localhost:{}", stripped.port), Some(folder.path().join("cert.pem")));
    let webhook = tell(&house_one, "ops@bank.example", "One");
    assert_eq!(first_try(&house_one, &webhook), (json!("pending"), json!("unreachable")));
    assert!(stripped.letters().is_empty());

    let stranger = Sink::start("wrapped", folder.path());
    let other = certified();
    let house_two =
        house(&format!("smtps://localhost:{}", stranger.port), Some(other.path().join("cert.pem")));
    let webhook = tell(&house_two, "ops@bank.example", "Two");
    assert_eq!(first_try(&house_two, &webhook), (json!("pending"), json!("unreachable")));
    assert!(stranger.letters().is_empty());
}

#[test]
fn a_relay_that_refuses_for_good_ends_it_and_one_that_refuses_for_now_does_not() {
    let folder = certified();
    let sink = Sink::start("plain", folder.path());
    let house = house(&format!("smtp://localhost:{}?tls=none", sink.port), None);
    let webhook = tell(&house, "nobody@bank.example", "One");
    assert_eq!(first_try(&house, &webhook), (json!("failed"), json!("rejected")));
    let webhook = tell(&house, "later@bank.example", "Two");
    assert_eq!(first_try(&house, &webhook), (json!("pending"), json!("rejected")));
}
