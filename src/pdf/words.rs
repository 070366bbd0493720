//! The documents' own words, all in one place, and how days, times and values are said.
//!
//! The rule: what a field is called here is what it is called in every document and in every history.

use super::document::Document;
use crate::clock::rfc3339;
use crate::domain::day::Day;

/// The language of these words.
pub const LANGUAGE: &str = "en";
/// Below the title.
pub const ORGANISATION: &str = "Organisation";
/// The id of what is shown.
pub const REFERENCE: &str = "Reference";
/// When it was printed.
pub const PRINTED: &str = "Printed";
/// By whom.
pub const PRINTED_BY: &str = "Printed by";
/// Behind the sign for a character that the fonts lack.
pub const MISSING_SAYS: &str = "stands for a character that the font of this document does not have.";

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Field names of v1, and what people call them.
const FIELDS: &[(&str, &str)] = &[
    ("external_id", "External id"),
    ("programme_id", "Programme"),
    ("test_case_id", "Test case"),
    ("name", "Name"),
    ("title", "Title"),
    ("description", "Description"),
    ("framework", "Framework"),
    ("type", "Type"),
    ("severity", "Severity"),
    ("priority", "Priority"),
    ("status", "Status"),
    ("owner", "Owner"),
    ("assignee", "Assignee"),
    ("starts_on", "Starts"),
    ("ends_on", "Ends"),
    ("scheduled_on", "Scheduled"),
    ("detected_on", "Detected"),
    ("due_on", "Due"),
    ("executed_at", "Executed"),
    ("result_summary", "Result"),
    ("remediation", "Remediation"),
    ("measure_ids", "Measures"),
    ("acceptance_reason", "Reason of acceptance"),
    ("acceptance_expires_on", "Accepted until"),
    ("closed_at", "Closed"),
    ("test_case_count", "Test cases"),
    ("finding_count", "Findings"),
    ("open_finding_count", "Open findings"),
    ("progress_pct", "Progress"),
    ("created_at", "Recorded"),
    ("updated_at", "Last changed"),
];

/// Words of closed sets that are no plain English.
const NAMES: &[(&str, &str)] = &[
    ("dora", "DORA"),
    ("marisk", "MaRisk"),
    ("iso-27001", "ISO/IEC 27001"),
    ("cra", "CRA"),
    ("nis2", "NIS2"),
    ("tlpt", "Threat-led penetration test"),
];

/// What people call a field.
pub fn label(field: &str) -> &'static str {
    FIELDS.iter().find(|(name, _)| *name == field).map_or("Other field", |(_, label)| label)
}

/// A word of a closed set, as people write it.
pub fn word(word: &str) -> String {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == word) {
        return (*name).to_owned();
    }
    let spaced = word.replace(['_', '-'], " ");
    let mut chars = spaced.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Year, month, day, hour, minute and second, UTC.
pub fn parts(wall_ms: i64) -> [u16; 6] {
    let text = rfc3339(wall_ms);
    let part = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse().ok()).unwrap_or(0);
    [part(0, 4), part(5, 7), part(8, 10), part(11, 13), part(14, 16), part(17, 19)]
}

/// `9 Nov 2026`
pub fn day(day: Day) -> String {
    let [year, month, day, ..] = parts(day.start_ms());
    let month = MONTHS.get(usize::from(month).saturating_sub(1)).copied().unwrap_or_default();
    format!("{day} {month} {year}")
}

/// `9 Nov 2026, 15:20 UTC`
pub fn moment(wall_ms: i64) -> String {
    let [_, _, _, hour, minute, _] = parts(wall_ms);
    format!("{}, {hour:02}:{minute:02} UTC", day(Day::of_ms(wall_ms)))
}

/// `1 finding`, `12,345 findings`
pub fn count(number: u64, one: &str, many: &str) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {}", if number == 1 { one } else { many })
}

/// The foot of every sheet.
pub fn foot(document: &Document) -> String {
    let reference = document.reference.iter().map(|id| format!("{id} · "));
    let printed = moment(document.printed_at);
    reference.collect::<String>() + &format!("Printed {printed} by {} · Confidential", document.printed_by)
}

/// `3 of 12`
pub fn page_of(number: usize, total: usize) -> String {
    format!("{number} of {total}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn every_field_that_a_document_shows_has_a_name() {
        let shapes: [&Shape; 3] = [
            &crate::domain::programme::PROGRAMME,
            &crate::domain::test_case::TEST_CASE,
            &crate::domain::finding::FINDING,
        ];
        for field in shapes.iter().flat_map(|shape| shape.fields).filter(|field| field.name != "id") {
            assert_ne!(label(field.name), "Other field", "{}", field.name);
        }
    }

    #[test]
    fn days_times_and_numbers_are_said_as_people_say_them() {
        assert_eq!(moment(1_794_729_600_000), "15 Nov 2026, 08:00 UTC");
        assert_eq!(count(1, "finding", "findings"), "1 finding");
        assert_eq!(count(1_234_567, "finding", "findings"), "1,234,567 findings");
        assert_eq!(count(999, "finding", "findings"), "999 findings");
        assert_eq!(word("risk_accepted"), "Risk accepted");
        assert_eq!(word("iso-27001"), "ISO/IEC 27001");
    }
}
