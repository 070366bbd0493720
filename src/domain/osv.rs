//! OSV records: which versions of which package a vulnerability is in.
//!
//! A version is affected if it is listed, or if it stands in a range. Ranges are walked only
//! where versions are semantic ones; elsewhere an order would be guessed.

use super::cvss_score;
use super::scan::{Severity, Vulnerability, clipped, link};
use crate::clock::parse_rfc3339;
use semver::Version;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Ecosystems whose versions are semantic ones, so that their own ranges may be walked too.
const SEMANTIC: &[&str] = &["crates.io", "npm", "Go", "Hex", "Pub", "SwiftURL", "Julia"];

/// Something that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Where its name counts, as OSV spells it; none for what has only an address.
    pub ecosystem: Option<String>,
    /// Its name there.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its package address, without a version: `pkg:cargo/ring`.
    pub purl: Option<String>,
}

/// One record, as far as it matters here.
#[derive(Debug, Deserialize)]
pub struct Record {
    id: String,
    modified: String,
    withdrawn: Option<String>,
    #[serde(default, deserialize_with = "list")]
    aliases: Vec<String>,
    summary: Option<String>,
    details: Option<String>,
    #[serde(default, deserialize_with = "list")]
    severity: Vec<Rating>,
    #[serde(default, deserialize_with = "list")]
    affected: Vec<Affected>,
    #[serde(default, deserialize_with = "list")]
    references: Vec<Reference>,
    #[serde(default)]
    database_specific: Value,
}

#[derive(Debug, Deserialize)]
struct Rating {
    #[serde(default)]
    score: String,
}

#[derive(Debug, Deserialize)]
struct Reference {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    url: String,
}

#[derive(Debug, Deserialize)]
struct Affected {
    package: Option<Package>,
    #[serde(default, deserialize_with = "list")]
    severity: Vec<Rating>,
    #[serde(default, deserialize_with = "list")]
    ranges: Vec<Range>,
    #[serde(default, deserialize_with = "list")]
    versions: Vec<String>,
    #[serde(default)]
    ecosystem_specific: Value,
    #[serde(default)]
    database_specific: Value,
}

#[derive(Debug, Deserialize)]
struct Package {
    #[serde(default)]
    ecosystem: String,
    #[serde(default)]
    name: String,
    purl: Option<String>,
}

/// One range of versions.
#[derive(Debug, Deserialize)]
pub struct Range {
    /// `SEMVER`, `ECOSYSTEM` or `GIT`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Where it begins and ends, in any order.
    #[serde(default, deserialize_with = "list")]
    pub events: Vec<Event>,
}

/// One end of a range.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// From here on; `0` is before everything.
    Introduced(String),
    /// No longer from here on.
    Fixed(String),
    /// Up to here and no further.
    LastAffected(String),
    /// Nothing is said of this version and later ones.
    Limit(String),
}

/// Lists that a program wrote may be null.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

impl Record {
    /// Reads a record; the error says why it is none.
    pub fn read(value: Value) -> Result<Record, String> {
        let record: Record =
            serde_json::from_value(value).map_err(|fault| format!("is no OSV record: {fault}"))?;
        if record.id.trim().is_empty() {
            return Err("is no OSV record: its id is empty".into());
        }
        match parse_rfc3339(&record.modified) {
            Some(_) => Ok(record),
            None => Err(format!("{}: `modified` is no RFC 3339 time", record.id)),
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The names of the packages it is about, each once; those of an address too.
    pub fn package_names(&self) -> impl Iterator<Item = &str> {
        let names: BTreeSet<&str> = self
            .affected
            .iter()
            .filter_map(|each| each.package.as_ref())
            .flat_map(Package::names)
            .flatten()
            .collect();
        names.into_iter()
    }

    /// When it was changed last.
    pub fn modified_ms(&self) -> i64 {
        parse_rfc3339(&self.modified).unwrap_or_default()
    }

    /// Was it taken back?
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn.is_some()
    }

    /// What it says of a component, if it says that it is affected. A range that cannot be read is an error.
    pub fn finds(&self, component: &Component) -> Result<Option<Vulnerability>, String> {
        if self.is_withdrawn() {
            return Ok(None);
        }
        for affected in self.affected.iter().filter(|affected| affected.names(component)) {
            let hit = affected.holds(&component.version).map_err(|fault| format!("{}: {fault}", self.id))?;
            if hit {
                return Ok(Some(self.vulnerability(component, Some(affected))));
            }
        }
        Ok(None)
    }

    /// The finding of a scanner that decided by itself; the record only describes it.
    pub fn described(&self, component: &Component) -> Vulnerability {
        let affected = self.affected.iter().find(|affected| affected.names(component));
        self.vulnerability(component, affected)
    }

    fn vulnerability(&self, component: &Component, affected: Option<&Affected>) -> Vulnerability {
        let cvss_score = self.cvss_score(affected);
        Vulnerability {
            id: self.id.clone(),
            aliases: self.aliases.clone(),
            package: Some(component.name.clone()),
            version: Some(component.version.clone()),
            fixed_in: affected.and_then(|affected| affected.fixed_after(&component.version)),
            severity: Severity::of(cvss_score, self.word(affected)),
            cvss_score,
            title: self.title(),
            url: self.url(),
            location: None,
        }
    }

    /// The worst of all vectors: of the package if it has its own, else of the record.
    fn cvss_score(&self, affected: Option<&Affected>) -> Option<f64> {
        let own = affected.map_or(&[][..], |affected| &affected.severity);
        let ratings = if own.is_empty() { &self.severity } else { own };
        let scores = ratings.iter().filter_map(|rating| cvss_score::of_vector(&rating.score));
        // RustSec writes its vector beside the package too.
        let beside = affected.and_then(|affected| affected.database_specific["cvss"].as_str());
        scores.chain(beside.and_then(cvss_score::of_vector)).reduce(f64::max)
    }

    /// The database's own word, where it has one. RustSec calls what is no vulnerability informational.
    fn word<'a>(&'a self, affected: Option<&'a Affected>) -> Option<&'a str> {
        let places =
            affected.into_iter().flat_map(|each| [&each.database_specific, &each.ecosystem_specific]);
        let places: Vec<&Value> = places.chain([&self.database_specific]).collect();
        if places.iter().any(|place| place["informational"].is_string()) {
            return Some(Severity::Informational.name());
        }
        places.into_iter().find_map(|place| place["severity"].as_str())
    }

    fn title(&self) -> Option<String> {
        let first_line =
            |text: &String| text.lines().map(str::trim).find(|line| !line.is_empty()).and_then(clipped);
        self.summary.as_ref().and_then(first_line).or_else(|| self.details.as_ref().and_then(first_line))
    }

    fn url(&self) -> Option<String> {
        let of = |kind: &str| {
            self.references.iter().find(|each| each.kind == kind).and_then(|each| link(&each.url))
        };
        of("ADVISORY")
            .or_else(|| of("WEB"))
            .or_else(|| self.references.iter().find_map(|each| link(&each.url)))
    }
}

impl Package {
    /// Its name, and the one in its address.
    fn names(&self) -> [Option<&str>; 2] {
        [Some(&self.name), self.purl.as_deref().and_then(|purl| bare(purl).rsplit('/').next())]
    }
}

impl Affected {
    fn names(&self, component: &Component) -> bool {
        let Some(package) = &self.package else { return false };
        // `Debian:12` is the ecosystem Debian.
        let ecosystem = package.ecosystem.split(':').next();
        let by_name = component.ecosystem.as_deref() == ecosystem && component.name == package.name;
        let address = package.purl.as_deref().map(bare);
        by_name || address.is_some() && component.purl.as_deref() == address
    }

    /// Is a version affected? Listed, or in a range.
    fn holds(&self, version: &str) -> Result<bool, String> {
        if self.versions.iter().any(|listed| listed == version) {
            return Ok(true);
        }
        let Some(version) = parse(version) else { return Ok(false) };
        for range in self.walkable() {
            if range.holds(&version)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn walkable(&self) -> impl Iterator<Item = &Range> {
        let ecosystem = self.package.as_ref().map_or("", |package| &package.ecosystem);
        let semantic = SEMANTIC.contains(&ecosystem.split(':').next().unwrap_or_default());
        self.ranges
            .iter()
            .filter(move |range| range.kind == "SEMVER" || range.kind == "ECOSYSTEM" && semantic)
    }

    /// The next version that has the fix. Where versions cannot be compared, the only one that is named.
    fn fixed_after(&self, version: &str) -> Option<String> {
        let fixes = |range: &'_ Range| {
            range.events.iter().filter_map(Event::fix).map(str::to_owned).collect::<Vec<_>>()
        };
        let walked: Vec<String> = self.walkable().flat_map(fixes).collect();
        if let Some(version) = parse(version).filter(|_| !walked.is_empty()) {
            let later = walked.into_iter().filter_map(|fix| parse(&fix).map(|parsed| (parsed, fix)));
            let later = later.filter(|(fix, _)| fix.cmp_precedence(&version) == Ordering::Greater);
            return later.min_by(|(one, _), (other, _)| one.cmp_precedence(other)).map(|(_, fix)| fix);
        }
        let all: Vec<String> =
            self.ranges.iter().filter(|range| range.kind != "GIT").flat_map(fixes).collect();
        all.into_iter().next().filter(|_| self.ranges.len() == 1)
    }
}

impl Range {
    /// Walks the events in the order of their versions. Build metadata count nowhere.
    pub fn holds(&self, version: &Version) -> Result<bool, String> {
        let mut events = Vec::with_capacity(self.events.len());
        let mut limits = Vec::new();
        for event in &self.events {
            match event {
                Event::Limit(text) if text == "*" => {}
                Event::Limit(text) => limits.push(understood(text)?),
                Event::Introduced(text) if text == "0" => events.push((None, event)),
                Event::Introduced(text) | Event::Fixed(text) | Event::LastAffected(text) => {
                    events.push((Some(understood(text)?), event));
                }
            }
        }
        // Stable: events of one version keep the order of the file.
        events.sort_by(|(one, _), (other, _)| by_precedence(one.as_ref(), other.as_ref()));
        let mut affected = false;
        for (at, event) in &events {
            let order = by_precedence(Some(version), at.as_ref());
            match event {
                Event::Introduced(_) if order != Ordering::Less => affected = true,
                Event::Fixed(_) if order != Ordering::Less => affected = false,
                Event::LastAffected(_) if order == Ordering::Greater => affected = false,
                Event::Introduced(_) | Event::Fixed(_) | Event::LastAffected(_) | Event::Limit(_) => {}
            }
        }
        let below = limits.is_empty()
            || limits.iter().any(|limit| version.cmp_precedence(limit) == Ordering::Less)
            || self.events.contains(&Event::Limit("*".into()));
        Ok(affected && below)
    }
}

impl Event {
    fn fix(&self) -> Option<&str> {
        match self {
            Event::Fixed(version) => Some(version),
            Event::Introduced(_) | Event::LastAffected(_) | Event::Limit(_) => None,
        }
    }
}

/// A package address without version, qualifiers and path.
fn bare(purl: &str) -> &str {
    purl.split(['@', '?', '#']).next().unwrap_or_default()
}

/// None stands before every version.
fn by_precedence(one: Option<&Version>, other: Option<&Version>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => one.cmp_precedence(other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

fn understood(text: &str) -> Result<Version, String> {
    parse(text)
        .ok_or_else(|| format!("`{}` in a range is no semantic version", clipped(text).unwrap_or_default()))
}

/// A semantic version; `1` and `1.2` stand for `1.0.0` and `1.2.0`.
fn parse(text: &str) -> Option<Version> {
    let filled = |zeros: &str| Version::parse(&format!("{text}{zeros}")).ok();
    Version::parse(text).ok().or_else(|| filled(".0")).or_else(|| filled(".0.0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn component(version: &str) -> Component {
        Component {
            ecosystem: Some("crates.io".into()),
            name: "ring".into(),
            version: version.into(),
            purl: Some("pkg:cargo/ring".into()),
        }
    }

    fn record(affected: Value) -> Record {
        Record::read(json!({
            "id": "RUSTSEC-2026-0001", "modified": "2026-05-01T00:00:00Z", "aliases": null, "affected": [affected],
        }))
        .unwrap()
    }

    fn ring(more: Value) -> Value {
        let mut affected = json!({ "package": { "ecosystem": "crates.io", "name": "ring" } });
        affected.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        affected
    }

    fn is_hit(affected: Value, version: &str) -> bool {
        record(affected).finds(&component(version)).unwrap().is_some()
    }

    fn semver_range(events: Value) -> Value {
        ring(json!({ "ranges": [{ "type": "SEMVER", "events": events }] }))
    }

    #[test]
    fn a_fix_ends_a_range_and_the_last_affected_belongs_to_it() {
        let fixed = || semver_range(json!([{ "introduced": "0.0.0-0" }, { "fixed": "0.17.12" }]));
        assert!(is_hit(fixed(), "0.17.11"));
        assert!(!is_hit(fixed(), "0.17.12") && !is_hit(fixed(), "0.17.14"));
        assert!(is_hit(fixed(), "0.17.12-rc.1"), "a pre-release comes before its release");
        let last = || semver_range(json!([{ "introduced": "0" }, { "last_affected": "0.17.12" }]));
        assert!(is_hit(last(), "0.17.12") && !is_hit(last(), "0.17.13"));
        assert!(
            is_hit(last(), "0.17.12+build.7") && !is_hit(fixed(), "0.17.12+build.7"),
            "build metadata do not count"
        );
        let open = || semver_range(json!([{ "introduced": "0.17.0" }]));
        assert!(is_hit(open(), "99.0.0") && !is_hit(open(), "0.16.20"));
        let limited = || semver_range(json!([{ "introduced": "0" }, { "limit": "1.0.0" }]));
        assert!(is_hit(limited(), "0.9.0") && !is_hit(limited(), "1.0.0"));
        let short = || semver_range(json!([{ "introduced": "0" }, { "fixed": "1.2" }]));
        assert!(is_hit(short(), "1.1.9") && !is_hit(short(), "1.2.0"));
        let empty = || semver_range(json!([{ "introduced": "1.0.0" }, { "fixed": "1.0.0" }]));
        assert!(!is_hit(empty(), "1.0.0") && !is_hit(empty(), "2.0.0"));
    }

    #[test]
    fn a_listed_version_is_affected_whatever_the_ranges_say() {
        let events = json!([{ "introduced": "0" }, { "fixed": "0.17.0" }]);
        let listed =
            ring(json!({ "versions": ["0.17.14"], "ranges": [{ "type": "SEMVER", "events": events }] }));
        assert!(
            is_hit(listed.clone(), "0.17.14")
                && is_hit(listed.clone(), "0.16.0")
                && !is_hit(listed, "0.17.13")
        );
        // Where versions are not semantic ones, only the list counts.
        let mut debian =
            ring(json!({ "ranges": [{ "type": "ECOSYSTEM", "events": [{ "introduced": "0" }] }] }));
        assert!(is_hit(debian.clone(), "0.17.14"), "crates.io has semantic versions");
        debian["package"]["ecosystem"] = json!("Debian:12");
        let mut package = component("0.17.14");
        package.ecosystem = Some("Debian".into());
        assert!(record(debian.clone()).finds(&package).unwrap().is_none());
        debian["versions"] = json!(["0.17.14"]);
        assert!(record(debian).finds(&package).unwrap().is_some());
        let git =
            ring(json!({ "ranges": [{ "type": "GIT", "repo": "r", "events": [{ "introduced": "0" }] }] }));
        assert!(!is_hit(git, "0.17.14"));
    }

    #[test]
    fn another_package_another_ecosystem_or_a_withdrawn_record_finds_nothing() {
        let all = || semver_range(json!([{ "introduced": "0" }]));
        let mut other = all();
        other["package"]["name"] = json!("ring-compat");
        assert!(!is_hit(other, "0.17.14"));
        let mut npm = all();
        npm["package"]["ecosystem"] = json!("npm");
        assert!(!is_hit(npm.clone(), "0.17.14"));
        npm["package"]["purl"] = json!("pkg:cargo/ring?x=y");
        assert!(is_hit(npm, "0.17.14"), "the address counts too");
        let withdrawn = json!({
            "id": "X", "modified": "2026-05-01T00:00:00Z", "withdrawn": "2026-05-02T00:00:00Z", "affected": [all()],
        });
        assert!(Record::read(withdrawn).unwrap().finds(&component("0.17.14")).unwrap().is_none());
    }

    #[test]
    fn a_range_that_cannot_be_read_is_told() {
        let odd = record(semver_range(json!([{ "introduced": "0" }, { "fixed": "r7" }])));
        let fault = odd.finds(&component("0.17.14")).unwrap_err();
        assert!(fault.contains("RUSTSEC-2026-0001") && fault.contains("`r7`"), "{fault}");
        for bad in [json!(5), json!({}), json!({ "id": "X" }), json!({ "id": "X", "modified": "yesterday" })]
        {
            assert!(Record::read(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn severity_comes_from_the_vector_of_the_package_or_the_record_or_the_databases_word() {
        let vector = |vector: &str| json!([{ "type": "CVSS_V3", "score": vector }]);
        let rated = |record: Value, affected: Value| {
            let mut affected_all =
                semver_range(json!([{ "introduced": "0" }, { "fixed": "0.18.0" }, { "fixed": "0.19.0" }]));
            affected_all.as_object_mut().unwrap().extend(affected.as_object().unwrap().clone());
            let mut whole =
                json!({ "id": "X", "modified": "2026-05-01T00:00:00Z", "affected": [affected_all] });
            whole.as_object_mut().unwrap().extend(record.as_object().unwrap().clone());
            let found = Record::read(whole).unwrap().finds(&component("0.17.14")).unwrap().unwrap();
            assert_eq!(found.fixed_in.as_deref(), Some("0.18.0"));
            (found.severity, found.cvss_score)
        };
        let high = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N";
        let critical = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N";
        assert_eq!(rated(json!({ "severity": vector(high) }), json!({})), (Severity::High, Some(7.5)));
        let both = json!([{ "type": "CVSS_V3", "score": high }, { "type": "CVSS_V4", "score": critical }]);
        assert_eq!(rated(json!({ "severity": both }), json!({})), (Severity::Critical, Some(9.3)));
        let own = json!({ "severity": vector(critical) });
        assert_eq!(rated(json!({ "severity": vector(high) }), own), (Severity::Critical, Some(9.3)));
        let word = json!({ "database_specific": { "severity": "MODERATE" } });
        assert_eq!(rated(word, json!({})), (Severity::Medium, None));
        let informational = json!({ "database_specific": { "informational": "unmaintained", "cvss": null } });
        assert_eq!(rated(json!({}), informational), (Severity::Informational, None));
        assert_eq!(rated(json!({ "severity": vector("nonsense") }), json!({})), (Severity::Unknown, None));
    }

    /// Versions in their order; the place in this list stands for the version.
    const LADDER: &[&str] = &[
        "0.1.0",
        "0.9.9",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1",
        "1.2.0",
        "1.10.0",
        "2.0.0-0",
        "2.0.0",
        "10.0.0",
    ];

    proptest! {
        /// Ranges as sets of rungs, found by counting on the ladder instead of walking events.
        #[test]
        fn a_walk_over_events_finds_what_counting_rungs_finds(
            cuts in proptest::collection::btree_set(0..LADDER.len(), 1..8),
            inclusive in proptest::collection::vec(any::<bool>(), 8),
            from_zero in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let cuts: Vec<usize> = cuts.into_iter().collect();
            let mut events = Vec::new();
            let mut affected = vec![false; LADDER.len()];
            for (number, pair) in cuts.chunks(2).enumerate() {
                let from = if number == 0 && from_zero { 0 } else { pair[0] };
                events.push(Event::Introduced(if number == 0 && from_zero { "0".into() } else { LADDER[from].into() }));
                let end = match pair.get(1) {
                    None => LADDER.len(),
                    Some(&to) if inclusive[number] => {
                        events.push(Event::LastAffected(LADDER[to].into()));
                        to + 1
                    }
                    Some(&to) => {
                        events.push(Event::Fixed(LADDER[to].into()));
                        to
                    }
                };
                affected[from..end].fill(true);
            }
            // Any order of the events means the same.
            let mut state = seed | 1;
            for position in (1..events.len()).rev() {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                events.swap(position, (state >> 33) as usize % (position + 1));
            }
            let range = Range { kind: "SEMVER".into(), events };
            for (rung, version) in LADDER.iter().enumerate() {
                let version = Version::parse(version).unwrap();
                prop_assert_eq!(range.holds(&version).unwrap(), affected[rung], "{} in {:?}", version, range);
            }
        }
    }
}
