//! The real binary as a process of its own.

use crate::client::Call;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const HOLDFAST: &str = env!("CARGO_BIN_EXE_holdfast");

/// A folder to work in, with a database that is not there yet.
pub struct Workplace {
    pub folder: TempDir,
}

impl Workplace {
    pub fn new() -> Workplace {
        Workplace { folder: tempfile::tempdir().unwrap() }
    }

    pub fn db(&self) -> PathBuf {
        self.folder.path().join("holdfast.db")
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(HOLDFAST);
        command.args(arguments).current_dir(self.folder.path()).env_clear().stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and gives what it printed, trimmed.
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs a command that must fail with a code, and gives its one line.
    pub fn failed(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        text
    }

    /// Runs a command with something on its standard input.
    pub fn fed(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    pub fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    pub fn serve_with(&self, env: &[(&str, &str)]) -> Server {
        Server::start(self.command(&["serve", "--listen", "127.0.0.1:0"]).envs(env.iter().copied()))
    }

    /// The key that the first start left in its file.
    pub fn first_key(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("holdfast.db.first-run")).unwrap();
        text.split_whitespace().find(|word| word.starts_with("hfast_")).unwrap().to_owned()
    }
}

/// A server process; killed when dropped.
pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
    pub printed: Vec<String>,
}

impl Server {
    pub fn start(command: &mut Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut printed = Vec::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        loop {
            let Some(Ok(line)) = lines.next() else {
                let output = child.wait_with_output().unwrap();
                panic!("the server did not start: {}", String::from_utf8_lossy(&output.stderr));
            };
            printed.push(line.clone());
            let Some(url) = line.strip_prefix("listening on ") else { continue };
            let address = url.split("//").nth(1).unwrap().parse().unwrap();
            return Server { child, address, printed };
        }
    }

    pub fn get(&self, target: &str) -> Call {
        Call::new(self.address, "GET", target)
    }

    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Ends it as `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it in order, within a time.
    pub fn stop(mut self, within: Duration) -> ExitStatus {
        self.signal("-TERM");
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the server did not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something holds, at the most so long; gives how long it took.
pub fn wait_until(within: Duration, what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < within, "{what} did not happen within {within:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
    began.elapsed()
}

/// Permission bits of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
