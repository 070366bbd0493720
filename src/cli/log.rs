//! The log on standard error: lines for people, or JSON lines for machines.
//!
//! What a line may hold is decided where it is written; this file only gives it its form.

use crate::config::Log;
use log::kv::{Error, Key, Value, VisitSource};
use serde_json::Map;
use std::io::Write;

/// Starts the log. A second start in one process (tests) keeps the first.
pub fn start(form: Log) {
    let mut builder = env_logger::Builder::new();
    builder.filter_level(form.level).target(env_logger::Target::Stderr);
    if form.json {
        builder.format(|out, record| {
            let line = json_line(&out.timestamp_millis().to_string(), record);
            writeln!(out, "{line}")
        });
    }
    let _ = builder.try_init();
}

/// One line. A request's fields say all, so its sentence is left out.
fn json_line(now: &str, record: &log::Record) -> serde_json::Value {
    let mut fields = Fields(Map::new());
    fields.0.insert("ts".into(), now.into());
    fields.0.insert("level".into(), record.level().as_str().to_ascii_lowercase().into());
    let began = fields.0.len();
    let _ = record.key_values().visit(&mut fields);
    if fields.0.len() == began || record.level() < log::Level::Info {
        fields.0.insert("message".into(), record.args().to_string().into());
    }
    serde_json::Value::Object(fields.0)
}

struct Fields(Map<String, serde_json::Value>);

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        let told = match value.to_u64() {
            Some(number) => number.into(),
            None => match value.to_string() {
                empty if empty.is_empty() => serde_json::Value::Null,
                text => text.into(),
            },
        };
        self.0.insert(key.as_str().to_owned(), told);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_object_whatever_its_text_holds() {
        let record = log::Record::builder()
            .level(log::Level::Warn)
            .args(format_args!("broken\n{{\"fake\":1}}"))
            .build();
        let line = json_line("2026-11-15T08:00:00.000Z", &record).to_string();
        assert_eq!(
            line,
            r#"{"ts":"2026-11-15T08:00:00.000Z","level":"warn","message":"broken\n{\"fake\":1}"}"#
        );
    }
}
