//! The audit log: security-relevant acts, and how many rows strangers may cause.
//!
//! What somebody did inside the house is always written. What somebody was refused at the door is written
//! within a budget, or whoever knocks all day would fill the disk: the same refusal of the same caller once in
//! ten minutes, and a hundred an hour in all. How many were left out stands in the next row.

use super::actor::{Actor, ActorKind};
use super::day::as_time;
use serde::Serialize;
use std::collections::HashMap;

words! {
    /// What is written down.
    Event {
        SignedIn = "signed_in", SignInRefused = "sign_in_refused", SignedOut = "signed_out",
        SessionEnded = "session_ended", PasswordChanged = "password_changed",
        PasswordRefused = "password_refused", UserCreated = "user_created", UserInvited = "user_invited",
        InvitationUsed = "invitation_used", UserChanged = "user_changed", RoleChanged = "role_changed",
        UserDisabled = "user_disabled", UserEnabled = "user_enabled", KeyCreated = "key_created",
        KeyRevoked = "key_revoked", ExpiredKeyUsed = "expired_key_used", KeyBlocked = "key_blocked",
        PermissionRefused = "permission_refused", WebhookCreated = "webhook_created",
        WebhookChanged = "webhook_changed", WebhookDeleted = "webhook_deleted",
        DestinationRefused = "destination_refused", ThresholdsChanged = "thresholds_changed",
        CraReportChanged = "cra_report_changed", TimelineSynced = "timeline_synced",
        DataImported = "data_imported", DataExported = "data_exported", TenantCreated = "tenant_created",
        TenantDeleted = "tenant_deleted", Migrated = "migrated", AuditPruned = "audit_pruned",
        BackedUp = "backed_up", Restored = "restored", SettingsChanged = "settings_changed",
    }
}
words! {
    /// How it ended.
    Outcome { Done = "done", Refused = "refused" }
}

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What happened.
    pub event: Event,
    /// How it ended.
    pub result: Outcome,
    /// In whose house, if in anybody's.
    pub tenant: Option<String>,
    /// Who did it.
    pub actor: Actor,
    /// To what.
    pub object_id: Option<String>,
    /// What else is worth knowing; never a secret.
    pub detail: Option<String>,
}

/// A row of the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Row {
    pub number: i64,
    #[serde(serialize_with = "as_time")]
    pub at: i64,
    pub event: Event,
    pub result: Outcome,
    pub tenant: Option<String>,
    pub actor: ActorKind,
    pub actor_id: Option<String>,
    pub actor_name: Option<String>,
    pub address: Option<String>,
    pub object_id: Option<String>,
    pub detail: Option<String>,
}

impl Row {
    /// The bytes that the chain covers: every field, the time to the millisecond, in one spelling.
    pub fn covered(&self) -> Vec<u8> {
        serde_json::json!([
            self.number,
            self.at,
            self.event,
            self.result,
            self.tenant,
            self.actor,
            self.actor_id,
            self.actor_name,
            self.address,
            self.object_id,
            self.detail,
        ])
        .to_string()
        .into_bytes()
    }
}

/// The log is kept so long.
pub const KEPT_DAYS: i64 = 400;

const HOUR_MS: i64 = 3_600_000;
/// Refusals that are written in an hour, at the most.
const AN_HOUR_MAX: u32 = 100;
/// The same refusal of the same caller is written once in this time.
const AGAIN_MS: i64 = 600_000;

/// How many refusals are still written.
#[derive(Debug, Default)]
pub struct Budget {
    since: i64,
    used: u32,
    left_out: u64,
    lately: HashMap<(Event, String), i64>,
}

impl Budget {
    /// Is this one written? `Some` holds how many were left out since the last one that was. A caller
    /// without a name is one that is throttled elsewhere, and each of its refusals counts.
    pub fn admit(&mut self, event: Event, caller: Option<&str>, now_ms: i64) -> Option<u64> {
        // A clock that was set back begins a new hour: rather a row too many than none for a year.
        if now_ms < self.since || now_ms - self.since >= HOUR_MS {
            self.since = now_ms;
            self.used = 0;
            self.lately.retain(|_, at| *at <= now_ms && now_ms - *at < AGAIN_MS);
        }
        let name = caller.map(|caller| (event, caller.to_owned()));
        let known = name.as_ref().and_then(|name| self.lately.get(name));
        let again = known.is_some_and(|at| *at <= now_ms && now_ms - at < AGAIN_MS);
        if again || self.used >= AN_HOUR_MAX {
            self.left_out += 1;
            return None;
        }
        self.used += 1;
        if let Some(name) = name {
            self.lately.insert(name, now_ms);
        }
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cause_a_hundred_rows_an_hour_and_the_rest_is_counted() {
        let mut budget = Budget::default();
        let event = Event::SignInRefused;
        let written = (0..10_000).filter(|_| budget.admit(event, None, 5).is_some()).count();
        assert_eq!(written, 100);
        assert_eq!(budget.admit(event, None, HOUR_MS + 5), Some(9_900));
        assert_eq!(budget.admit(event, None, HOUR_MS + 6), Some(0));
        assert_eq!(budget.admit(event, None, 0), Some(0), "a clock set back locks nothing");
    }

    #[test]
    fn one_caller_is_named_once_in_ten_minutes() {
        let mut budget = Budget::default();
        let mut admit = |event, caller, at| budget.admit(event, Some(caller), at);
        assert_eq!(admit(Event::PermissionRefused, "key_1", 0), Some(0));
        assert_eq!(admit(Event::PermissionRefused, "key_1", 599_999), None);
        assert_eq!(admit(Event::PermissionRefused, "key_2", 599_999), Some(1));
        assert_eq!(admit(Event::KeyBlocked, "key_1", 599_999), Some(0));
        assert_eq!(admit(Event::PermissionRefused, "key_1", 600_000), Some(0));
    }
}
