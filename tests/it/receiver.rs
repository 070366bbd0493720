//! Receivers of webhooks on the loopback: orderly ones and every kind of bad one.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Got {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Got {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }
}

/// What a receiver does with a request.
#[derive(Clone, Debug)]
pub enum Manner {
    /// Answers with these bytes and closes.
    Says(String),
    /// Takes the request and stays silent.
    Hangs,
    /// Says yes and never ends.
    Endless,
    /// Closes without a word.
    Closes,
}

impl Manner {
    pub fn status(status: u16) -> Manner {
        Manner::with(status, "")
    }

    pub fn with(status: u16, header: &str) -> Manner {
        Manner::Says(format!(
            "HTTP/1.1 {status} X\r\n{header}Content-Length: 2\r\nConnection: close\r\n\r\nok"
        ))
    }
}

/// A receiver; its manner can change.
pub struct Receiver {
    pub address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    got: Arc<Mutex<Vec<Got>>>,
    connections: Arc<AtomicUsize>,
}

impl Receiver {
    pub fn start(manner: Manner) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Receiver {
            address: listener.local_addr().unwrap(),
            manner: Arc::new(Mutex::new(manner)),
            got: Arc::default(),
            connections: Arc::default(),
        };
        let (manner, got, connections) =
            (Arc::clone(&receiver.manner), Arc::clone(&receiver.got), Arc::clone(&receiver.connections));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Ordering::SeqCst);
                let (manner, got) = (Arc::clone(&manner), Arc::clone(&got));
                std::thread::spawn(move || serve(stream, &manner, &got));
            }
        });
        receiver
    }

    /// Its address with a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.got.lock().unwrap().len()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, manner: &Mutex<Manner>, got: &Mutex<Vec<Got>>) {
    let Some(request) = read(&mut stream) else { return };
    got.lock().unwrap().push(request);
    let manner = manner.lock().unwrap().clone();
    match manner {
        Manner::Says(answer) => {
            let _ = stream.write_all(answer.as_bytes());
        }
        Manner::Hangs => {
            // Until the other side gives up.
            let _ = stream.set_read_timeout(Some(Duration::from_secs(120)));
            let _ = stream.read(&mut [0]);
        }
        Manner::Endless => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n");
            while stream.write_all(&[b'x'; 65_536]).is_ok() {}
        }
        Manner::Closes => {}
    }
}

fn read(stream: &mut TcpStream) -> Option<Got> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, text)| text.parse().unwrap());
    while bytes.len() < end + length {
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    }
    let body = serde_json::from_slice(&bytes[end..end + length]).unwrap_or(Value::Null);
    Some(Got { path, headers, body })
}
