//! SARIF 2.1.0: results of any analysis tool. Which package a result is about is not part of the
//! format; Trivy writes it into the message, and there it is read.

use super::report::{blank, items, text};
use super::scan::{Report, Severity, Source, Vulnerability, clipped, link, score};
use crate::clock::parse_rfc3339;
use crate::error::Faults;
use serde_json::Value;

/// Reads all runs. Suppressed results and those that are no failure are left out, and counted in the note.
pub fn read(value: &Value, faults: &mut Faults) -> Report {
    let mut report = blank(Source::Sarif);
    let (mut tools, mut left_out) = (Vec::new(), 0);
    for (number, run) in items(&value["runs"]).enumerate() {
        tools.extend(text(&run["tool"]["driver"]["name"]));
        report.target = report.target.take().or_else(|| target(run));
        let ends = items(&run["invocations"]).filter_map(|each| each["endTimeUtc"].as_str());
        report.reported_at = report.reported_at.max(ends.filter_map(parse_rfc3339).max());
        for (row, result) in items(&run["results"]).enumerate() {
            if !counts(result) {
                left_out += 1;
                continue;
            }
            match finding(run, result) {
                Some(found) => report.findings.push(found),
                None => faults.add(&format!("runs[{number}].results[{row}].ruleId"), "is missing"),
            }
        }
    }
    report.findings.sort_by_key(|found| found.severity);
    tools.dedup();
    let by = if tools.is_empty() { "SARIF".into() } else { tools.join(", ") };
    report.note = Some(match left_out {
        0 => format!("by {by}; SARIF does not tell the age of advisories"),
        count => format!(
            "by {by}; SARIF does not tell the age of advisories; {count} suppressed or passed results are left out"
        ),
    });
    report
}

fn target(run: &Value) -> Option<String> {
    let repository = items(&run["versionControlProvenance"]).find_map(|each| text(&each["repositoryUri"]));
    repository.or_else(|| text(&run["automationDetails"]["id"]))
}

/// A result counts if it is a failure and nobody accepted it.
fn counts(result: &Value) -> bool {
    let accepted = |each: &Value| each["status"].as_str().is_none_or(|status| status == "accepted");
    let fails = result["kind"].as_str().is_none_or(|kind| kind == "fail");
    fails && !items(&result["suppressions"]).any(accepted)
}

fn finding(run: &Value, result: &Value) -> Option<Vulnerability> {
    let rule = rule(run, result);
    let id = text(&result["ruleId"]).or_else(|| text(&result["rule"]["id"])).or_else(|| text(&rule["id"]))?;
    let rating = |place: &Value| {
        let rating = &place["properties"]["security-severity"];
        rating.as_f64().or_else(|| rating.as_str()?.parse().ok()).and_then(score)
    };
    let cvss_score = rating(result).or_else(|| rating(rule));
    let level = result["level"].as_str().or(rule["defaultConfiguration"]["level"].as_str());
    let message = result["message"]["text"].as_str().unwrap_or_default();
    let said =
        |label: &str| message.lines().find_map(|line| line.trim().strip_prefix(label)).and_then(clipped);
    let described =
        ["shortDescription", "fullDescription"].iter().find_map(|name| text(&rule[*name]["text"]));
    Some(Vulnerability {
        id,
        aliases: Vec::new(),
        package: said("Package: "),
        version: said("Installed Version: "),
        fixed_in: said("Fixed Version: "),
        severity: cvss_score.map_or_else(|| of_level(level.unwrap_or("warning")), Severity::of_score),
        cvss_score,
        title: described.or_else(|| message.lines().next().and_then(clipped)),
        url: rule["helpUri"].as_str().and_then(link),
        location: location(result),
    })
}

/// The rule of a result: by its place in the tool or an extension, or by its id.
fn rule<'a>(run: &'a Value, result: &Value) -> &'a Value {
    let tool = &run["tool"];
    let rules = match result["rule"]["toolComponent"]["index"].as_u64() {
        Some(extension) => &tool["extensions"][extension as usize]["rules"],
        None => &tool["driver"]["rules"],
    };
    let index = result["rule"]["index"].as_u64().or(result["ruleIndex"].as_u64());
    let id = result["ruleId"].as_str().or(result["rule"]["id"].as_str());
    let by_id = |rules: &'a Value| items(rules).find(|rule| id.is_some() && rule["id"].as_str() == id);
    let by_index = index.and_then(|index| rules.get(usize::try_from(index).ok()?));
    by_index.or_else(|| by_id(rules)).unwrap_or(&Value::Null)
}

fn of_level(level: &str) -> Severity {
    match level {
        "error" => Severity::High,
        "warning" => Severity::Medium,
        "note" => Severity::Low,
        "none" => Severity::Informational,
        _ => Severity::Unknown,
    }
}

/// `src/main.c:17`
fn location(result: &Value) -> Option<String> {
    let place = &result["locations"][0]["physicalLocation"];
    let file = text(&place["artifactLocation"]["uri"])?;
    Some(match place["region"]["startLine"].as_u64() {
        Some(line) => format!("{file}:{line}"),
        None => file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(run: Value) -> Report {
        let mut faults = Faults::default();
        let report = read(&json!({ "version": "2.1.0", "runs": [run] }), &mut faults);
        assert!(faults.fields.is_empty(), "{faults}");
        report
    }

    #[test]
    fn a_rule_is_found_by_its_place_its_extension_or_its_id() {
        let run = json!({
            "tool": {
                "driver": { "name": "t", "rules": [{ "id": "A", "helpUri": "https://a.example" }, { "id": "B" }] },
                "extensions": [{ "name": "e", "rules": [{ "id": "X", "properties": { "security-severity": "9.1" } }] }],
            },
            "results": [
                { "ruleIndex": 0, "message": { "text": "by place" } },
                { "ruleId": "A", "message": { "text": "by id" }, "level": "note" },
                { "rule": { "id": "X", "index": 0, "toolComponent": { "index": 0 } }, "message": { "text": "extension" } },
                { "ruleId": "none such", "ruleIndex": 99, "message": { "text": "unknown rule" }, "level": "error" },
            ],
        });
        let found = report(run).findings;
        let ids: Vec<&str> = found.iter().map(|each| each.id.as_str()).collect();
        assert_eq!(ids, ["X", "none such", "A", "A"]);
        assert_eq!((found[0].severity, found[0].cvss_score), (Severity::Critical, Some(9.1)));
        assert_eq!(found[2].url.as_deref(), Some("https://a.example"));
        assert_eq!((found[2].severity, found[3].severity), (Severity::Medium, Severity::Low));
    }

    #[test]
    fn what_is_suppressed_or_no_failure_is_left_out_and_counted() {
        let result = |more: Value| {
            let mut result = json!({ "ruleId": "A", "message": { "text": "m" } });
            result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            result
        };
        let run = json!({ "tool": { "driver": { "name": "t" } }, "results": [
            result(json!({})),
            result(json!({ "suppressions": [{ "kind": "inSource" }] })),
            result(json!({ "suppressions": [{ "kind": "external", "status": "rejected" }] })),
            result(json!({ "suppressions": [] })),
            result(json!({ "kind": "pass" })),
        ] });
        let report = report(run);
        assert_eq!(report.findings.len(), 3);
        assert!(report.note.unwrap().contains("2 suppressed or passed"));
    }
}
