//! Lists as spreadsheets: every row that the address asks for, in its order, and not only those of its page.
//!
//! The rule: what leaves the house is noted in the audit log before it leaves. A cell is what v1 calls by the name
//! of its column; a file that would not hold all rows is not made.

use super::words::Words;
use crate::domain::arrangement::NEW_ARRANGEMENT;
use crate::domain::day::Day;
use crate::domain::form::Form;
use crate::domain::provider::NEW_PROVIDER;
use crate::domain::query::Query;
use crate::domain::spreadsheet;
use crate::error::Error;
use crate::http::{Answer, Reply, Visit};
use crate::store::{Listed, Tenant};
use serde::Serialize;
use serde_json::{Value, json};

/// So many rows fit into one file.
const ROWS_MAX: u64 = 100_000;
/// Whoever finds no turn is asked to come again after so long.
const BUSY_SECONDS: u64 = 10;

static PROGRAMME: &[&str] = &[
    "id",
    "external_id",
    "name",
    "framework",
    "status",
    "owner",
    "starts_on",
    "ends_on",
    "test_case_count",
    "open_finding_count",
    "progress_pct",
    "description",
    "created_at",
    "updated_at",
];
static TEST_CASE: &[&str] = &[
    "id",
    "external_id",
    "programme_id",
    "title",
    "type",
    "status",
    "priority",
    "assignee",
    "scheduled_on",
    "due_on",
    "executed_at",
    "finding_count",
    "measure_ids",
    "description",
    "result_summary",
    "created_at",
    "updated_at",
];
static FINDING: &[&str] = &[
    "id",
    "external_id",
    "title",
    "severity",
    "status",
    "owner",
    "detected_on",
    "due_on",
    "programme_id",
    "test_case_id",
    "measure_ids",
    "description",
    "remediation",
    "acceptance_reason",
    "acceptance_expires_on",
    "closed_at",
    "created_at",
    "updated_at",
];
static CRA_REPORT: &[&str] = &[
    "id",
    "external_id",
    "kind",
    "title",
    "product_name",
    "product_version",
    "cve_id",
    "severity",
    "cvss_score",
    "status",
    "became_aware_at",
    "early_warning_due_at",
    "early_warning_sent_at",
    "notification_due_at",
    "notification_sent_at",
    "corrective_measure_at",
    "final_report_due_at",
    "final_report_sent_at",
    "overdue",
    "late_stages",
    "submissions",
    "member_states",
    "summary",
    "root_cause",
    "mitigation",
    "user_guidance",
    "created_at",
    "updated_at",
];
static AUDIT: &[&str] =
    &["number", "at", "event", "result", "actor", "actor_id", "actor_name", "address", "object_id", "detail"];

/// `GET /programmes/export.csv`
pub fn programmes(visit: &Visit) -> Answer {
    sheet(visit, "programmes", PROGRAMME, |tenant, query| tenant.programmes(query))
}

/// `GET /test-cases/export.csv`
pub fn test_cases(visit: &Visit) -> Answer {
    sheet(visit, "test-cases", TEST_CASE, |tenant, query| tenant.test_cases(query))
}

/// `GET /findings/export.csv`
pub fn findings(visit: &Visit) -> Answer {
    sheet(visit, "findings", FINDING, |tenant, query| tenant.listed_findings(query))
}

/// `GET /cra-reports/export.csv`
pub fn cra_reports(visit: &Visit) -> Answer {
    let now_ms = visit.app.clock.now_ms();
    sheet(visit, "cra-reports", CRA_REPORT, |tenant, query| {
        let listed = tenant.cra_reports(query)?;
        let items = listed.items.iter().map(|report| report.shown(now_ms)).collect();
        Ok(Listed { items, total: listed.total, page: listed.page })
    })
}

/// `GET /providers/export.csv`: the columns that an import reads.
pub fn providers(visit: &Visit) -> Answer {
    sheet(visit, "providers", &names_of(&NEW_PROVIDER), |tenant, query| tenant.providers(query))
}

/// `GET /arrangements/export.csv`: the columns that an import reads.
pub fn arrangements(visit: &Visit) -> Answer {
    sheet(visit, "arrangements", &names_of(&NEW_ARRANGEMENT), |tenant, query| tenant.arrangements(query))
}

/// `GET /audit/export.csv`
pub fn audit(visit: &Visit) -> Answer {
    sheet(visit, "audit", AUDIT, |tenant, query| tenant.audit(query))
}

/// Where the spreadsheet of the list at `path` is, filtered as the list is.
pub fn csv_of(path: &str, query: &Query) -> String {
    query.link(&format!("{path}/export.csv"), &[("offset", "")])
}

/// The id, by which the workspace's import recognises a row, and the fields of the form.
fn names_of(form: &Form) -> Vec<&'static str> {
    ["id"].into_iter().chain(form.fields.iter().map(|field| field.name)).collect()
}

/// Makes a large file when it is its turn.
pub fn in_turn(visit: &Visit, make: impl FnOnce() -> Answer) -> Answer {
    match visit.app.exports.take() {
        Some(_turn) => make(),
        None => Ok(Reply::come_again(Words::of(visit).t("document.busy"), BUSY_SECONDS)),
    }
}

fn sheet<T: Serialize>(
    visit: &Visit,
    name: &str,
    columns: &[&str],
    read: impl FnOnce(&Tenant, &Query) -> Result<Listed<T>, Error>,
) -> Answer {
    in_turn(visit, || {
        let listed = read(&visit.tenant()?, &visit.query.first(ROWS_MAX))?;
        if listed.total > ROWS_MAX {
            return Err(Error::invalid(Words::of(visit).count("document.too_many", ROWS_MAX)));
        }
        let row = |item: &T| {
            let shown = json!(item);
            columns.iter().map(|column| cell(&shown[*column])).collect()
        };
        let bytes = spreadsheet::write(columns, listed.items.iter().map(row))?;
        let file_name = format!("{name}-{}.csv", Day::of_ms(visit.app.clock.now_ms()));
        send(visit, bytes, "text/csv; charset=utf-8", file_name, None)
    })
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join("; "),
        Value::Object(fields) => {
            fields.values().map(cell).collect::<Vec<_>>().join(" ").trim_end().to_owned()
        }
        // A whole number of euros is written without its fraction.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Hands a file over to be saved, and notes that it left. `object_id` is the one object it shows, if it is one.
pub fn send(
    visit: &Visit,
    bytes: Vec<u8>,
    media_type: &'static str,
    file_name: String,
    object_id: Option<&str>,
) -> Answer {
    visit.tenant()?.note_export(&file_name, object_id)?;
    Ok(Reply::file(bytes, media_type, file_name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{arrangement, cra_form, finding, programme, provider, test_case};
    use crate::shape::Shape;

    #[test]
    fn a_column_is_a_field_that_v1_shows() {
        let (providers, arrangements) = (names_of(&NEW_PROVIDER), names_of(&NEW_ARRANGEMENT));
        let sheets: [(&[&str], &Shape); 6] = [
            (PROGRAMME, &programme::PROGRAMME),
            (TEST_CASE, &test_case::TEST_CASE),
            (FINDING, &finding::FINDING),
            (CRA_REPORT, &cra_form::CRA_REPORT),
            (&providers, &provider::PROVIDER),
            (&arrangements, &arrangement::ARRANGEMENT),
        ];
        for (columns, shape) in sheets {
            for column in columns {
                assert!(shape.fields.iter().any(|field| field.name == *column), "{}: {column}", shape.name);
            }
        }
        for (columns, shape) in &sheets[..3] {
            let missing = shape.fields.iter().find(|field| !columns.contains(&field.name));
            assert!(missing.is_none(), "{}: {missing:?}", shape.name);
        }
    }

    #[test]
    fn values_are_written_as_a_spreadsheet_reads_them() {
        assert_eq!(cell(&json!(48_000.0)), "48000");
        assert_eq!(cell(&json!(33.3)), "33.3");
        assert_eq!((cell(&json!(null)), cell(&json!(true))), (String::new(), "true".into()));
        assert_eq!(cell(&json!(["a", "b"])), "a; b");
        let sent = json!([{ "stage": "early_warning", "reference": "R-1", "authority": null }]);
        assert_eq!(cell(&sent), "early_warning R-1");
    }
}
