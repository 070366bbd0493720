//! History: what was done to an object, by whom, and which fields it changed.
//!
//! What is compared is what people see of an object. Computed fields and stamps are left out, and so is
//! whatever would give a secret away.

use super::actor::ActorKind;
use super::arrangement::Arrangement;
use super::cra::CraReport;
use super::day::as_time;
use super::finding::Finding;
use super::form::{Form, text};
use super::key::ApiKey;
use super::programme::Programme;
use super::provider::Provider;
use super::risk::Thresholds;
use super::test_case::TestCase;
use super::user::User;
use super::webhook::Webhook;
use crate::clock::rfc3339;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

words! {
    /// What has a history.
    ObjectKind {
        Programme = "programme", TestCase = "test_case", Finding = "finding", CraReport = "cra_report",
        Provider = "provider", Arrangement = "arrangement", Webhook = "webhook", Key = "key", User = "user",
        Thresholds = "thresholds",
    }
}
words! {
    /// What was done.
    Act { Created = "created", Imported = "imported", Changed = "changed", Deleted = "deleted" }
}

/// The id under which the history of a tenant's thresholds is kept.
pub const THRESHOLDS_ID: &str = "thresholds";

/// One field, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Its name, as v1 calls it.
    pub field: String,
    /// What it was; null for nothing.
    pub before: Value,
    /// What it became.
    pub after: Value,
}

/// One act; an object's acts are numbered in their order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Entry {
    pub number: i64,
    #[serde(serialize_with = "as_time")]
    pub at: i64,
    pub act: Act,
    pub actor: ActorKind,
    pub actor_id: Option<String>,
    pub actor_name: Option<String>,
    pub changes: Vec<Change>,
}

/// What somebody wrote about an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Note {
    pub number: i64,
    #[serde(serialize_with = "as_time")]
    pub at: i64,
    pub actor: ActorKind,
    pub actor_id: Option<String>,
    pub actor_name: Option<String>,
    pub body: String,
}

/// What a note may hold.
pub static NEW_NOTE: Form = Form {
    name: "NewNote",
    fields: &[text("body", 5_000).required().says("What is to be remembered.")],
    read_only: &[],
};

/// An object whose changes are written down.
pub trait Recorded {
    /// What it is.
    const KIND: ObjectKind;
    /// Its id.
    fn object_id(&self) -> &str;
    /// What people see of it.
    fn seen(&self) -> Value;
    /// What is computed or stamped.
    const LEFT_OUT: &'static [&'static str];
}

/// Stamps that every object has.
const STAMPS: &[&str] = &["id", "created_at", "updated_at"];

/// The fields in which an object differs, in the order in which it shows them.
pub fn changes<R: Recorded>(before: &R, after: &R) -> Vec<Change> {
    let (before, mut after) = (fields(before), fields(after));
    let mut changes = Vec::new();
    for (field, before) in before {
        let after = after.shift_remove(&field).unwrap_or(Value::Null);
        if before != after {
            changes.push(Change { field, before, after });
        }
    }
    changes.extend(after.into_iter().filter(|(_, value)| !value.is_null()).map(|(field, after)| Change {
        field,
        before: Value::Null,
        after,
    }));
    changes
}

fn fields<R: Recorded>(object: &R) -> Map<String, Value> {
    let Value::Object(mut fields) = object.seen() else { return Map::new() };
    fields.retain(|name, _| !STAMPS.contains(&name.as_str()) && !R::LEFT_OUT.contains(&name.as_str()));
    fields
}

/// The nouns that show themselves as they are.
macro_rules! recorded {
    ($($noun:ident, [$($left_out:literal),*];)+) => {$(
        impl Recorded for $noun {
            const KIND: ObjectKind = ObjectKind::$noun;
            const LEFT_OUT: &'static [&'static str] = &[$($left_out),*];

            fn object_id(&self) -> &str {
                &self.id
            }

            fn seen(&self) -> Value {
                json!(self)
            }
        }
    )+};
}

recorded! {
    Programme, ["test_case_count", "open_finding_count", "progress_pct"];
    TestCase, ["finding_count"];
    Finding, [];
    Provider, [];
    Arrangement, [];
}

impl Recorded for CraReport {
    const KIND: ObjectKind = ObjectKind::CraReport;
    const LEFT_OUT: &'static [&'static str] = &[
        "early_warning_due_at",
        "notification_due_at",
        "final_report_due_at",
        "next_deadline",
        "overdue",
        "late_stages",
    ];

    fn object_id(&self) -> &str {
        &self.id
    }

    fn seen(&self) -> Value {
        self.shown(0)
    }
}

impl Recorded for Webhook {
    const KIND: ObjectKind = ObjectKind::Webhook;
    const LEFT_OUT: &'static [&'static str] = &["last_delivery"];

    fn object_id(&self) -> &str {
        &self.id
    }

    /// Whoever knows the address of a chat webhook can write to it: only its beginning is kept, and a
    /// digest by which a change is seen.
    fn seen(&self) -> Value {
        let mut seen = json!(self);
        seen["url"] = Value::from(masked(&self.url));
        seen
    }
}

/// Scheme and host of an address, and a check number of the whole.
pub fn masked(url: &str) -> String {
    let beginning = match url.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.split('/').next().unwrap_or_default()),
        None => url.split(':').next().unwrap_or_default().to_owned() + ":",
    };
    format!("{beginning}/… ({:08x})", super::key::check_number(url.as_bytes()))
}

impl Recorded for ApiKey {
    const KIND: ObjectKind = ObjectKind::Key;
    const LEFT_OUT: &'static [&'static str] = &[];

    fn object_id(&self) -> &str {
        &self.id
    }

    fn seen(&self) -> Value {
        json!({
            "name": self.name,
            "permissions": self.permissions.names(),
            "expires_at": self.expires_at_ms.map(rfc3339),
            "revoked_at": self.revoked_at_ms.map(rfc3339),
        })
    }
}

impl Recorded for User {
    const KIND: ObjectKind = ObjectKind::User;
    const LEFT_OUT: &'static [&'static str] = &[];

    fn object_id(&self) -> &str {
        &self.id
    }

    fn seen(&self) -> Value {
        json!({
            "name": self.name,
            "email": self.email,
            "role": self.role,
            "disabled_at": self.disabled_at_ms.map(rfc3339),
        })
    }
}

impl Recorded for Thresholds {
    const KIND: ObjectKind = ObjectKind::Thresholds;
    const LEFT_OUT: &'static [&'static str] = &[];

    fn object_id(&self) -> &str {
        THRESHOLDS_ID
    }

    fn seen(&self) -> Value {
        json!(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::finding::FINDING_PATCH;

    #[test]
    fn only_what_differs_is_told_and_never_a_stamp() {
        let body = json!({ "title": "t", "severity": "low", "owner": "Anna" });
        let values = FINDING_PATCH.check(body.as_object().unwrap()).unwrap();
        let before = Finding::new("fnd_1".into(), &values, 0);
        assert_eq!(changes(&before, &before), []);
        let mut after = before.clone();
        let patch = json!({ "title": "u", "owner": null });
        after.change(&FINDING_PATCH.check(patch.as_object().unwrap()).unwrap(), 5).unwrap();
        let told = changes(&before, &after);
        let told: Vec<_> = told.iter().map(|change| (change.field.as_str(), &change.after)).collect();
        assert_eq!(told, [("title", &json!("u")), ("owner", &Value::Null)]);
    }

    #[test]
    fn the_address_of_a_webhook_is_not_given_away() {
        let masked_one = masked("https://hooks.slack.com/services/T0/B0/secret");
        assert!(masked_one.starts_with("https://hooks.slack.com/…"), "{masked_one}");
        assert!(!masked_one.contains("secret"));
        assert_ne!(masked_one, masked("https://hooks.slack.com/services/T0/B0/other"));
        assert!(!masked("mailto:anna@bank.example").contains("anna"));
    }
}
