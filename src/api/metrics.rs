//! `GET /metrics`: figures in the text format of Prometheus, version 0.0.4. Routes are told by their
//! template, and nothing by tenant, key or path of a file.

use crate::app::{App, PLATFORM_VERSION};
use crate::domain::upkeep::{Status, Verdict};
use crate::health;
use crate::http::{Answer, Reply};
use crate::meter::Tally;
use std::fmt::{Display, Write};

/// Answers with every figure.
pub fn figures(app: &App) -> Answer {
    let mut page = Page(String::with_capacity(16 * 1024));
    build(app, &mut page);
    requests(app, &mut page);
    checks(app, &mut page);
    disk(app, &mut page);
    clockwork(app, &mut page);
    process(&mut page);
    Ok(Reply::figures(page.0))
}

/// The text under construction.
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// A sample; labels are ours, so that none needs escaping but a backslash, a quote or a line's end.
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (position, (label, text)) in labels.iter().enumerate() {
            let before = if position == 0 { '{' } else { ',' };
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{before}{label}=\"{text}\"");
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.sample(name, &[], value);
    }
}

fn build(app: &App, page: &mut Page) {
    page.family("holdfast_build_info", "gauge", "The platform's version.");
    page.sample("holdfast_build_info", &[("version", PLATFORM_VERSION)], 1);
    let started_ms = app.clock.now_ms() - i64::try_from(app.clock.elapsed_ms()).unwrap_or(0);
    let help = "When the process started, in seconds since 1970.";
    page.gauge("process_start_time_seconds", help, started_ms as f64 / 1000.0);
}

fn requests(app: &App, page: &mut Page) {
    let asked: Vec<(&str, &str, Tally)> = app
        .meter
        .tallies()
        .filter(|(_, tally)| tally.requests > 0)
        .map(|(name, tally)| {
            let (method, route) = name.split_once(' ').unwrap_or(("", name));
            (method, route, tally)
        })
        .collect();
    let total = "holdfast_http_requests_total";
    page.family(total, "counter", "Answers by route and class of status.");
    for (method, route, tally) in &asked {
        let good = tally.requests.saturating_sub(tally.client_errors + tally.server_errors);
        for (class, count) in [("2xx", good), ("4xx", tally.client_errors), ("5xx", tally.server_errors)] {
            page.sample(total, &[("method", method), ("route", route), ("status", class)], count);
        }
    }
    let seconds = "holdfast_http_request_duration_seconds";
    page.family(seconds, "summary", "Time from a request's head to its answer, by route.");
    for (method, route, tally) in &asked {
        let labels = [("method", *method), ("route", *route)];
        page.sample(&format!("{seconds}_sum"), &labels, tally.micros as f64 / 1e6);
        page.sample(&format!("{seconds}_count"), &labels, tally.requests);
    }
}

fn checks(app: &App, page: &mut Page) {
    let report = health::look(app);
    let up = match report.status {
        Status::Ok | Status::Degraded => 1,
        Status::Down => 0,
    };
    page.gauge("holdfast_up", "1 unless the service is down.", up);
    page.family("holdfast_health_check", "gauge", "1 for each check that has not failed.");
    for check in &report.checks {
        let good = match check.verdict {
            Verdict::Ok | Verdict::Low => 1,
            Verdict::Failed => 0,
        };
        page.sample("holdfast_health_check", &[("check", check.name)], good);
    }
}

fn disk(app: &App, page: &mut Page) {
    let (database_bytes, wal_bytes) = app.store.file_bytes();
    page.gauge("holdfast_database_bytes", "Size of the database.", database_bytes);
    page.gauge("holdfast_wal_bytes", "Size of the write-ahead log.", wal_bytes);
    if let Some(space) = app.store.space() {
        page.gauge("holdfast_disk_free_bytes", "Room on the database's disk.", space.free_bytes);
        page.gauge("holdfast_disk_total_bytes", "Size of the database's disk.", space.total_bytes);
    }
}

fn clockwork(app: &App, page: &mut Page) {
    let jobs = app.ledger.jobs();
    page.family("holdfast_job_runs_total", "counter", "Runs of a job since the start.");
    for job in &jobs {
        page.sample("holdfast_job_runs_total", &[("job", job.name)], job.runs);
    }
    page.family("holdfast_job_faults_total", "counter", "Runs of a job that failed, panicked or hung.");
    for job in &jobs {
        for (kind, count) in [("failed", job.failures), ("panicked", job.panics), ("stuck", job.hangs)] {
            page.sample("holdfast_job_faults_total", &[("job", job.name), ("kind", kind)], count);
        }
    }
    let last = "holdfast_job_last_run_timestamp_seconds";
    page.family(last, "gauge", "When a job last began.");
    for job in &jobs {
        if let Some(at_ms) = job.last_run_at_ms {
            page.sample(last, &[("job", job.name)], at_ms / 1000);
        }
    }
    page.family("holdfast_heals_total", "counter", "What the rules of the auto-heal have mended.");
    for rule in app.ledger.rules() {
        page.sample("holdfast_heals_total", &[("rule", rule.name)], rule.heal_count);
    }
}

/// What the system tells of this process; left out where it does not.
fn process(page: &mut Page) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let figure = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    if let Some(kib) = figure("VmRSS:") {
        page.gauge("process_resident_memory_bytes", "Resident memory.", kib * 1024);
    }
    if let Some(threads) = figure("Threads:") {
        page.gauge("process_threads", "Threads.", threads);
    }
    if let Ok(files) = std::fs::read_dir("/proc/self/fd") {
        page.gauge("process_open_fds", "Open files and connections.", files.count());
    }
}
