//! Vulnerability scans: what was looked at, what is known of it, and how bad it is.
//!
//! No data is never shown as no findings: a scan that had nothing to compare with says so in its note.

use super::day::{as_optional_time, as_time};
use crate::shape::{self, Is, Shape, Shown, id, list, record, text, whole, word};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;

words! {
    /// Who looked.
    Source {
        Own = "self", OsvScanner = "osv-scanner", Trivy = "trivy", Grype = "grype", Sarif = "sarif",
    }
}

words! {
    /// How bad it is, the worst first. `unknown` is what nobody has rated.
    Severity {
        Critical = "critical", High = "high", Medium = "medium", Low = "low", Informational = "informational",
        Unknown = "unknown",
    }
}

/// The most findings of one scan.
pub const FINDINGS_MAX: usize = 10_000;
/// The longest text that is kept of a report.
const TEXT_CHARS_MAX: usize = 500;

/// A known vulnerability in something that was looked at, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Vulnerability {
    pub id: String,
    pub aliases: Vec<String>,
    pub package: Option<String>,
    pub version: Option<String>,
    /// A version without it; several where the scanner names several.
    pub fixed_in: Option<String>,
    pub severity: Severity,
    pub cvss_score: Option<f64>,
    pub title: Option<String>,
    pub url: Option<String>,
    /// Where the scanner saw it.
    pub location: Option<String>,
}

/// What a scan brought, before it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Who looked.
    pub source: Source,
    /// At what.
    pub target: Option<String>,
    /// At how many components; none if the report does not tell.
    pub components: Option<usize>,
    /// When the newest advisory was changed.
    pub advisories_as_of: Option<i64>,
    /// When the scanner wrote its report.
    pub reported_at: Option<i64>,
    /// What one has to know to read it right.
    pub note: Option<String>,
    /// What was found, the worst first.
    pub findings: Vec<Vulnerability>,
}

/// A stored scan, as v1 shows it.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Scan<'a> {
    pub id: &'a str,
    #[serde(serialize_with = "as_time")]
    pub scanned_at: i64,
    pub source: Source,
    pub target: &'a Option<String>,
    pub components: Option<usize>,
    #[serde(serialize_with = "as_optional_time")]
    pub advisories_as_of: Option<i64>,
    #[serde(serialize_with = "as_optional_time")]
    pub reported_at: Option<i64>,
    pub note: &'a Option<String>,
    pub summary: Summary,
    pub findings: &'a [Vulnerability],
}

/// How many of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Summary {
    pub critical: usize,
    pub high: usize,
    pub medium: usize,
    pub low: usize,
    pub informational: usize,
    pub unknown: usize,
    pub total: usize,
}

/// A scan, as it is shown.
pub static SCAN: Shape = Shape {
    name: "VulnerabilityScan",
    fields: &[
        id("scan"),
        shape::time("scanned_at").says("When."),
        word("source", Source::NAMES)
            .says("Who looked: the server at itself, or a scanner whose report was loaded."),
        text("target").nullable().says("What was looked at.").such_as(r#""holdfast 0.1.0""#),
        whole("components").nullable().says("How many parts it has.").such_as("152"),
        shape::time("advisories_as_of")
            .nullable()
            .says("How new the advisories were; null if there were none."),
        shape::time("reported_at").nullable().says("When the scanner wrote its report."),
        text("note").nullable().says("What the figures do not tell.").such_as("null"),
        record("summary", &SUMMARY).says("How many, by severity."),
        list("findings", &Is::Record(&VULNERABILITY)).says("What was found, worst first."),
    ],
};

static SUMMARY: Shape = Shape {
    name: "ScanSummary",
    fields: &[
        whole("critical").such_as("0"),
        whole("high").such_as("1"),
        whole("medium").such_as("0"),
        whole("low").such_as("0"),
        whole("informational").such_as("0"),
        whole("unknown").such_as("0"),
        whole("total").such_as("1"),
    ],
};

static VULNERABILITY: Shape = Shape {
    name: "Vulnerability",
    fields: &[
        text("id").such_as(r#""RUSTSEC-2026-0001""#),
        list("aliases", &Is::Text).says("Its names elsewhere.").such_as(r#"["CVE-2026-12345"]"#),
        text("package").nullable().such_as(r#""example""#),
        text("version").nullable().such_as(r#""1.2.3""#),
        text("fixed_in").nullable().says("The first version without it.").such_as(r#""1.2.4""#),
        word("severity", Severity::NAMES).such_as(r#""high""#),
        Shown::new("cvss_score", Is::Number).nullable(),
        text("title").nullable().such_as(r#""Out-of-bounds read""#),
        text("url").nullable().such_as("null"),
        text("location").nullable().says("Where it was found, if in a file.").such_as("null"),
    ],
};

impl Report {
    /// The scan as it is shown, once it has an id and a time.
    pub fn shown<'a>(&'a self, id: &'a str, scanned_at: i64) -> Scan<'a> {
        Scan {
            id,
            scanned_at,
            source: self.source,
            target: &self.target,
            components: self.components,
            advisories_as_of: self.advisories_as_of,
            reported_at: self.reported_at,
            note: &self.note,
            summary: Summary::of(&self.findings),
            findings: &self.findings,
        }
    }
}

impl Summary {
    /// Counts.
    pub fn of(findings: &[Vulnerability]) -> Summary {
        let mut summary = Summary { total: findings.len(), ..Summary::default() };
        for finding in findings {
            let count = match finding.severity {
                Severity::Critical => &mut summary.critical,
                Severity::High => &mut summary.high,
                Severity::Medium => &mut summary.medium,
                Severity::Low => &mut summary.low,
                Severity::Informational => &mut summary.informational,
                Severity::Unknown => &mut summary.unknown,
            };
            *count += 1;
        }
        summary
    }
}

impl Severity {
    /// The rating of a CVSS score.
    pub fn of_score(score: f64) -> Severity {
        match score {
            score if score >= 9.0 => Severity::Critical,
            score if score >= 7.0 => Severity::High,
            score if score >= 4.0 => Severity::Medium,
            score if score > 0.0 => Severity::Low,
            _ => Severity::Informational,
        }
    }

    /// The words that databases and scanners use.
    pub fn of_word(word: &str) -> Severity {
        match word.to_ascii_lowercase().as_str() {
            "critical" => Severity::Critical,
            "high" | "important" => Severity::High,
            "medium" | "moderate" => Severity::Medium,
            "low" | "minor" => Severity::Low,
            "negligible" | "none" | "info" | "informational" => Severity::Informational,
            _ => Severity::Unknown,
        }
    }

    /// What a score says, or a word where there is no score.
    pub fn of(score: Option<f64>, word: Option<&str>) -> Severity {
        score.map(Severity::of_score).or(word.map(Severity::of_word)).unwrap_or(Severity::Unknown)
    }
}

/// Joins what several advisories say of one vulnerability in one place, and puts the worst first.
pub fn settle(mut found: Vec<Vulnerability>) -> Vec<Vulnerability> {
    // Ids decide which of two names stands, whatever the order in which files were read.
    found.sort_by(|one, other| one.id.cmp(&other.id));
    let mut settled: Vec<Vulnerability> = Vec::with_capacity(found.len());
    let mut known: HashMap<String, usize> = HashMap::new();
    for next in found {
        let names: Vec<String> = next.names_here().collect();
        let position = names.iter().find_map(|name| known.get(name).copied()).unwrap_or(settled.len());
        match settled.get_mut(position) {
            Some(same) => join(same, next),
            None => settled.push(next),
        }
        known.extend(names.into_iter().map(|name| (name, position)));
    }
    settled.sort_by(|one, other| order(one).cmp(&order(other)));
    settled
}

impl Vulnerability {
    /// Its names, each with the place: two findings that share one are the same.
    fn names_here(&self) -> impl Iterator<Item = String> {
        let place = format!("{:?}", (&self.package, &self.version, &self.location));
        std::iter::once(&self.id).chain(&self.aliases).map(move |name| format!("{name} {place}"))
    }
}

fn order(finding: &Vulnerability) -> (Severity, Reverse<i64>, &Option<String>, &str, &Option<String>) {
    let tenths = finding.cvss_score.map_or(-1, |score| (score * 10.0).round() as i64);
    (finding.severity, Reverse(tenths), &finding.package, &finding.id, &finding.location)
}

fn join(known: &mut Vulnerability, next: Vulnerability) {
    for name in std::iter::once(next.id).chain(next.aliases) {
        if name != known.id && !known.aliases.contains(&name) {
            known.aliases.push(name);
        }
    }
    known.aliases.sort();
    // Unknown is last in the order of severities, so the lesser is the worse and the known one.
    known.severity = known.severity.min(next.severity);
    known.cvss_score = known.cvss_score.into_iter().chain(next.cvss_score).reduce(f64::max);
    known.fixed_in = known.fixed_in.take().or(next.fixed_in);
    known.title = known.title.take().or(next.title);
    known.url = known.url.take().or(next.url);
}

/// A text of a report, trimmed and cut to what is kept; none if nothing is left.
pub fn clipped(text: &str) -> Option<String> {
    let text = text.trim();
    let cut = text.char_indices().nth(TEXT_CHARS_MAX).map_or(text.len(), |(position, _)| position);
    Some(text[..cut].to_owned()).filter(|text| !text.is_empty())
}

/// A link that one may click: http or https, nothing else.
pub fn link(text: &str) -> Option<String> {
    let text = text.trim();
    let plain = text.chars().all(|char| char.is_ascii_graphic() && !"\"<>\\".contains(char));
    let web = text.starts_with("https://") || text.starts_with("http://");
    (plain && web && text.len() <= 2048).then(|| text.to_owned())
}

/// A CVSS score; what is out of range is none.
pub fn score(number: f64) -> Option<f64> {
    (0.0..=10.0).contains(&number).then_some((number * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(id: &str, aliases: &[&str], severity: Severity, score: Option<f64>) -> Vulnerability {
        Vulnerability {
            id: id.into(),
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
            package: Some("ring".into()),
            version: Some("0.17.14".into()),
            fixed_in: None,
            severity,
            cvss_score: score,
            title: None,
            url: None,
            location: None,
        }
    }

    #[test]
    fn two_databases_on_one_vulnerability_are_one_finding_in_any_order() {
        let one = found("RUSTSEC-2026-0001", &["CVE-2026-1"], Severity::Unknown, None);
        let mut two = found("GHSA-aaaa", &["CVE-2026-1"], Severity::High, Some(7.5));
        two.fixed_in = Some("0.18.0".into());
        let other = found("RUSTSEC-2026-0002", &[], Severity::Critical, None);
        let settled = settle(vec![one.clone(), other.clone(), two.clone()]);
        assert_eq!(settled, settle(vec![two.clone(), one.clone(), other]));
        assert_eq!(settled.len(), 2);
        assert_eq!(settled[1].id, "GHSA-aaaa");
        assert_eq!(settled[1].aliases, ["CVE-2026-1", "RUSTSEC-2026-0001"]);
        assert_eq!((settled[1].severity, settled[1].cvss_score), (Severity::High, Some(7.5)));
        assert_eq!(settled[1].fixed_in.as_deref(), Some("0.18.0"));
        let mut elsewhere = one.clone();
        elsewhere.version = Some("0.16.0".into());
        assert_eq!(settle(vec![one, elsewhere]).len(), 2, "two versions are two findings");
    }

    #[test]
    fn the_worst_comes_first_and_the_summary_adds_up() {
        let settled = settle(vec![
            found("D", &[], Severity::Unknown, None),
            found("C", &[], Severity::High, Some(7.0)),
            found("B", &[], Severity::High, Some(8.8)),
            found("A", &[], Severity::Critical, Some(9.8)),
        ]);
        assert_eq!(settled.iter().map(|each| each.id.as_str()).collect::<Vec<_>>(), ["A", "B", "C", "D"]);
        let summary = Summary::of(&settled);
        assert_eq!((summary.critical, summary.high, summary.unknown, summary.total), (1, 2, 1, 4));
    }

    #[test]
    fn a_link_is_a_web_address_and_a_text_has_an_end() {
        assert_eq!(link(" https://example.org/a "), Some("https://example.org/a".into()));
        for bad in ["javascript:alert(1)", "https://a\"b", "ftp://x", "", "https://a b"] {
            assert_eq!(link(bad), None, "{bad}");
        }
        assert_eq!(clipped(" \n"), None);
        assert_eq!(clipped(&"ä".repeat(900)).unwrap().chars().count(), TEXT_CHARS_MAX);
        assert_eq!((score(7.54), score(10.1), score(f64::NAN)), (Some(7.5), None, None));
    }
}
