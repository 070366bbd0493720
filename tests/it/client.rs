//! A small HTTP client that shows everything: status, headers, bytes.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A request under construction.
pub struct Call {
    address: SocketAddr,
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Names in lower case, in the order received.
    pub headers: Vec<(String, String)>,
    /// The bytes.
    pub body: Vec<u8>,
}

impl Call {
    pub fn new(address: SocketAddr, method: &str, target: &str) -> Call {
        Call { address, method: method.into(), target: target.into(), headers: Vec::new(), body: None }
    }

    pub fn header(mut self, name: &str, value: &str) -> Call {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With a bearer key.
    pub fn key(self, key: &str) -> Call {
        self.header("Authorization", &format!("Bearer {key}"))
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Call {
        self.body = Some(body.into());
        self
    }

    pub fn json(self, body: &Value) -> Call {
        self.body(body.to_string())
    }

    /// Sends it on a connection of its own.
    pub fn send(self) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut head =
            format!("{} {} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        // A server may refuse before it has read all of a body; its answer is what counts.
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(self.body.as_deref().unwrap_or_default());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::parse(&bytes)
    }

    /// Sends it and expects a status.
    pub fn expect(self, status: u16) -> Answer {
        let name = format!("{} {}", self.method, self.target);
        let answer = self.send();
        assert_eq!(answer.status, status, "{name}: {}", String::from_utf8_lossy(&answer.body));
        answer
    }
}

impl Answer {
    /// Reads an answer whose connection was closed behind it.
    pub fn parse(bytes: &[u8]) -> Answer {
        let split = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| {
            panic!("no head in the answer: {:?}", String::from_utf8_lossy(bytes));
        });
        let head = String::from_utf8(bytes[..split].to_vec()).expect("head is text");
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(": ").expect("header"))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        Answer { status, headers, body: bytes[split + 4..].to_vec() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The `error` text.
    pub fn error(&self) -> String {
        self.json()["error"].as_str().expect("error is a string").to_owned()
    }
}
