//! Reports of other scanners: osv-scanner, Trivy and Grype in JSON; SARIF has a file of its own.
//!
//! The format is told by the content. A report is read whole or not at all, and every fault is named.

use super::cvss_score;
use super::osv::{Component, Record};
use super::sarif;
use super::scan::{FINDINGS_MAX, Report, Severity, Source, Vulnerability, clipped, link, score, settle};
use crate::clock::parse_rfc3339;
use crate::error::Faults;
use serde_json::Value;

/// Reads a report.
pub fn read(bytes: &[u8]) -> Result<Report, Faults> {
    let whole = |summary: String| Faults { summary, ..Faults::default() };
    // A byte order mark is what some shells on Windows put in front.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|fault| whole(format!("the file is not valid JSON: {fault}")))?;
    let read = recognise(&value).map_err(whole)?;
    let mut faults = Faults::default();
    let mut report = read(&value, &mut faults);
    if report.findings.len() > FINDINGS_MAX {
        let count = report.findings.len();
        faults.add("findings", format!("the report has {count}; at most {FINDINGS_MAX} are taken"));
    }
    if !faults.fields.is_empty() {
        return Err(faults);
    }
    // In SARIF a rule that is broken in many lines is as many findings.
    if report.source != Source::Sarif {
        report.findings = settle(report.findings);
    }
    Ok(report)
}

/// Reads a report of one format, naming its faults.
type Reader = fn(&Value, &mut Faults) -> Report;

const NONE: &str = "the file is no report that is known here: it must be the JSON of osv-scanner, Trivy or Grype, or SARIF 2.1.0";

fn recognise(value: &Value) -> Result<Reader, String> {
    let has = |name: &str| value[name].is_array();
    let packages = |result: &Value| result["packages"].is_array() || result["source"].is_object();
    if has("runs") {
        return match value["version"].as_str() {
            Some("2.1.0") => Ok(sarif::read),
            Some(other) => {
                let version = clipped(other).unwrap_or_default();
                Err(format!("the file is SARIF {version}; only 2.1.0 is known here"))
            }
            None => Err(NONE.into()),
        };
    }
    if value["SchemaVersion"].is_number() {
        return match value["SchemaVersion"].as_u64() {
            Some(2) => Ok(trivy),
            _ => Err("the file is a report of Trivy of another schema version than 2".into()),
        };
    }
    if has("matches") && (value["descriptor"].is_object() || value["source"].is_object()) {
        return Ok(grype);
    }
    let results = value["results"].as_array();
    results.filter(|results| results.iter().all(packages)).map(|_| osv_scanner as Reader).ok_or(NONE.into())
}

pub(super) fn blank(source: Source) -> Report {
    Report {
        source,
        target: None,
        components: None,
        advisories_as_of: None,
        reported_at: None,
        note: None,
        findings: Vec::new(),
    }
}

/// The items of a list that may be absent or null.
pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().and_then(clipped)
}

/// A text that has to be there.
fn needed(value: &Value, path: &str, name: &str, faults: &mut Faults) -> String {
    text(&value[name]).unwrap_or_else(|| {
        faults.add(&format!("{path}.{name}"), "is missing");
        String::new()
    })
}

fn texts(value: &Value) -> Vec<String> {
    items(value).filter_map(text).collect()
}

fn osv_scanner(value: &Value, faults: &mut Faults) -> Report {
    let mut report = blank(Source::OsvScanner);
    let mut sources: Vec<String> = Vec::new();
    for (number, result) in items(&value["results"]).enumerate() {
        let location = text(&result["source"]["path"]);
        sources.extend(location.clone());
        for (place, package) in items(&result["packages"]).enumerate() {
            let path = format!("results[{number}].packages[{place}]");
            let package_path = format!("{path}.package");
            let component = Component {
                ecosystem: text(&package["package"]["ecosystem"]),
                name: needed(&package["package"], &package_path, "name", faults),
                version: needed(&package["package"], &package_path, "version", faults),
                purl: None,
            };
            for (row, record) in items(&package["vulnerabilities"]).enumerate() {
                match Record::read(record.clone()) {
                    Ok(record) => report.findings.push(of_record(&record, &component, package, &location)),
                    Err(fault) => faults.add(&format!("{path}.vulnerabilities[{row}]"), fault),
                }
            }
        }
    }
    report.target = joined(sources);
    report.note = Some("osv-scanner's report does not tell the age of its advisories".into());
    report
}

/// The scanner decided that the package is affected; its group knows a score where no vector does.
fn of_record(
    record: &Record,
    component: &Component,
    package: &Value,
    location: &Option<String>,
) -> Vulnerability {
    let mut found = record.described(component);
    let group =
        items(&package["groups"]).find(|group| texts(&group["ids"]).iter().any(|id| id == record.id()));
    let rated = group.and_then(|group| group["max_severity"].as_str()?.parse().ok()).and_then(score);
    if found.cvss_score.is_none() && rated.is_some() {
        found.cvss_score = rated;
        found.severity = Severity::of(rated, None);
    }
    found.location = location.clone();
    found
}

/// The first, and how many more.
fn joined(mut sources: Vec<String>) -> Option<String> {
    sources.dedup();
    match sources.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [first, more @ ..] => Some(format!("{first} and {} more", more.len())),
    }
}

fn trivy(value: &Value, faults: &mut Faults) -> Report {
    let mut report = blank(Source::Trivy);
    report.target = text(&value["ArtifactName"]);
    report.reported_at = value["CreatedAt"].as_str().and_then(parse_rfc3339);
    let (mut packages, mut other) = (None, 0);
    for (number, result) in items(&value["Results"]).enumerate() {
        if let Some(listed) = result["Packages"].as_array() {
            packages = Some(packages.unwrap_or(0) + listed.len());
        }
        other += items(&result["Misconfigurations"]).count() + items(&result["Secrets"]).count();
        for (row, found) in items(&result["Vulnerabilities"]).enumerate() {
            let path = format!("Results[{number}].Vulnerabilities[{row}]");
            let cvss_score = trivy_score(found);
            report.findings.push(Vulnerability {
                id: needed(found, &path, "VulnerabilityID", faults),
                aliases: texts(&found["VendorIDs"]),
                package: Some(needed(found, &path, "PkgName", faults)),
                version: text(&found["InstalledVersion"]),
                fixed_in: text(&found["FixedVersion"]),
                severity: rated(cvss_score, found["Severity"].as_str()),
                cvss_score,
                title: text(&found["Title"]).or_else(|| first_line(&found["Description"])),
                url: found["PrimaryURL"].as_str().and_then(link),
                location: text(&result["Target"]),
            });
        }
    }
    report.components = packages;
    let mut note = String::from("Trivy's report does not tell the age of its advisories");
    if other > 0 {
        note.push_str(&format!(
            "; {other} misconfigurations and secrets in it are no vulnerabilities and left out"
        ));
    }
    report.note = Some(note);
    report
}

/// The score of the source whose severity Trivy shows; else the worst.
fn trivy_score(found: &Value) -> Option<f64> {
    let of = |entry: &Value| entry["V40Score"].as_f64().or(entry["V3Score"].as_f64()).and_then(score);
    let chosen = found["SeveritySource"].as_str().and_then(|source| of(&found["CVSS"][source]));
    let all = found["CVSS"].as_object().into_iter().flat_map(|entries| entries.values());
    chosen.or_else(|| all.filter_map(of).reduce(f64::max))
}

/// A scanner's own word stands before the score: it knows the distribution.
fn rated(score: Option<f64>, word: Option<&str>) -> Severity {
    let said = word.map_or(Severity::Unknown, Severity::of_word);
    if said == Severity::Unknown { Severity::of(score, None) } else { said }
}

fn first_line(value: &Value) -> Option<String> {
    value.as_str()?.lines().map(str::trim).find(|line| !line.is_empty()).and_then(clipped)
}

fn grype(value: &Value, faults: &mut Faults) -> Report {
    let mut report = blank(Source::Grype);
    let target = &value["source"]["target"];
    report.target =
        text(target).or_else(|| text(&target["userInput"])).or_else(|| text(&value["source"]["name"]));
    let descriptor = &value["descriptor"];
    report.reported_at = descriptor["timestamp"].as_str().and_then(parse_rfc3339);
    // Newer versions tell of the database under `status`.
    let built = descriptor["db"]["status"]["built"].as_str().or(descriptor["db"]["built"].as_str());
    report.advisories_as_of = built.and_then(parse_rfc3339);
    if report.advisories_as_of.is_none() {
        report.note = Some("the report does not tell the age of its advisories".into());
    }
    for (number, found) in items(&value["matches"]).enumerate() {
        let path = format!("matches[{number}]");
        let vulnerability = &found["vulnerability"];
        let cvss_score = grype_score(vulnerability)
            .or_else(|| items(&found["relatedVulnerabilities"]).filter_map(grype_score).reduce(f64::max));
        let related = items(&found["relatedVulnerabilities"]).filter_map(|each| text(&each["id"]));
        let id = needed(vulnerability, &format!("{path}.vulnerability"), "id", faults);
        report.findings.push(Vulnerability {
            aliases: related.filter(|alias| *alias != id).collect(),
            id,
            package: Some(needed(&found["artifact"], &format!("{path}.artifact"), "name", faults)),
            version: text(&found["artifact"]["version"]),
            fixed_in: Some(texts(&vulnerability["fix"]["versions"]).join(", "))
                .filter(|fixes| !fixes.is_empty()),
            severity: rated(cvss_score, vulnerability["severity"].as_str()),
            cvss_score,
            title: first_line(&vulnerability["description"]).or_else(|| {
                items(&found["relatedVulnerabilities"]).find_map(|each| first_line(&each["description"]))
            }),
            url: vulnerability["dataSource"].as_str().and_then(link),
            location: items(&found["artifact"]["locations"]).find_map(|each| text(&each["path"])),
        });
    }
    report
}

fn grype_score(vulnerability: &Value) -> Option<f64> {
    let of = |entry: &Value| {
        let told = entry["metrics"]["baseScore"].as_f64().and_then(score);
        // Scores of version 2 do not compare with the others.
        let old = entry["version"].as_str().is_some_and(|version| version.starts_with('2'));
        told.filter(|_| !old).or_else(|| entry["vector"].as_str().and_then(cvss_score::of_vector))
    };
    items(&vulnerability["cvss"]).filter_map(of).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(value: &Value) -> String {
        read(value.to_string().as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_report_is_refused_with_what_would_be_one() {
        for none in
            [json!({}), json!([]), json!(7), json!({ "bomFormat": "CycloneDX" }), json!({ "results": [1] })]
        {
            assert!(fault(&none).contains("osv-scanner, Trivy or Grype, or SARIF 2.1.0"), "{none}");
        }
        assert!(fault(&json!({ "version": "2.0.0", "runs": [] })).contains("SARIF 2.0.0"));
        assert!(fault(&json!({ "SchemaVersion": 1, "Results": [] })).contains("schema version"));
        assert!(read(b"{").unwrap_err().to_string().contains("not valid JSON"));
        assert!(read(b"").is_err() && read(b"\xff\xfe").is_err());
    }

    #[test]
    fn every_fault_is_named_and_nothing_is_taken() {
        let report = json!({ "SchemaVersion": 2, "Results": [
            { "Target": "a", "Vulnerabilities": [{ "PkgName": "p" }, { "VulnerabilityID": "CVE-1" }] },
        ] });
        let faults = read(report.to_string().as_bytes()).unwrap_err();
        let named: Vec<&str> = faults.fields.iter().map(|(name, _)| name.as_str()).collect();
        let first = "Results[0].Vulnerabilities[0].VulnerabilityID";
        assert_eq!(named, [first, "Results[0].Vulnerabilities[1].PkgName"]);
        let many: Vec<Value> = (0..=FINDINGS_MAX)
            .map(|number| json!({ "VulnerabilityID": format!("CVE-{number}"), "PkgName": "p" }))
            .collect();
        let report = json!({ "SchemaVersion": 2, "Results": [{ "Vulnerabilities": many }] });
        assert!(fault(&report).contains("at most 10000"));
    }

    #[test]
    fn a_scanners_own_word_stands_before_the_score() {
        assert_eq!(rated(Some(9.8), Some("LOW")), Severity::Low);
        assert_eq!(rated(Some(9.8), Some("UNKNOWN")), Severity::Critical);
        assert_eq!(rated(None, None), Severity::Unknown);
        assert_eq!(rated(None, Some("Negligible")), Severity::Informational);
    }

    #[test]
    fn an_empty_report_is_a_report() {
        for empty in [
            json!({ "results": [] }),
            json!({ "SchemaVersion": 2, "ArtifactName": "x" }),
            json!({ "matches": [], "descriptor": { "name": "grype" } }),
            json!({ "version": "2.1.0", "runs": [] }),
        ] {
            assert_eq!(read(empty.to_string().as_bytes()).unwrap().findings, [], "{empty}");
        }
    }
}
