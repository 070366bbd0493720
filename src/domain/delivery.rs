//! Deliveries: a message's way to one webhook, and what a failed try is followed by.
//!
//! The schedule is here and nowhere else. A delivery may arrive twice, never zero times, unless its
//! destination refuses it to the end.

use super::day::{as_optional_time, as_time};
use crate::shape::{self, Is, Shape};
use serde::Serialize;

words! {
    /// Where a delivery stands.
    State {
        Pending = "pending", Sending = "sending", Delivered = "delivered", Failed = "failed",
        Cancelled = "cancelled",
    }
}
words! {
    /// How a try ended.
    Outcome {
        Delivered = "delivered",
        // It was answered, but not with success.
        Rejected = "rejected",
        // The receiver says that the destination is gone for good.
        Gone = "gone",
        TimedOut = "timed_out",
        Unreachable = "unreachable",
        // The destination is not, or no longer, one that may be sent to.
        Blocked = "blocked",
        // The channel has no way out: mail without a relay.
        NotConfigured = "not_configured",
    }
}

/// A failed try is followed by another after so long; after the last the delivery has failed.
const RETRY_AFTER_MS: [i64; 7] = [10_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000, 43_200_000];
/// Each wait is moved by up to this share, so that what failed together does not come back together.
const JITTER: f64 = 0.1;
/// A receiver may ask for no longer wait than this.
pub const RETRY_AFTER_MAX_MS: i64 = 86_400_000;
/// A webhook that fails for so long without one success is switched off.
pub const GIVE_UP_MS: i64 = 120 * 3_600_000;

/// What one try brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// How it ended.
    pub outcome: Outcome,
    /// What an HTTP receiver answered.
    pub http_status: Option<u16>,
    /// The receiver asked for this wait.
    pub retry_after_ms: Option<i64>,
    /// Another try would bring the same.
    pub is_final: bool,
}

impl Tried {
    /// A try that ended without an answer.
    pub fn without_answer(outcome: Outcome) -> Tried {
        let is_final = outcome == Outcome::Blocked;
        Tried { outcome, http_status: None, retry_after_ms: None, is_final }
    }

    /// A try that an HTTP receiver answered.
    pub fn answered(status: u16, retry_after_ms: Option<i64>) -> Tried {
        let outcome = match status {
            200..=299 => Outcome::Delivered,
            410 => Outcome::Gone,
            _ => Outcome::Rejected,
        };
        let honoured = retry_after_ms.filter(|_| matches!(status, 429 | 503));
        Tried {
            outcome,
            http_status: Some(status),
            retry_after_ms: honoured,
            is_final: outcome == Outcome::Gone,
        }
    }
}

/// What follows a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It arrived.
    Done,
    /// Another try after so many milliseconds.
    RetryAfterMs(i64),
    /// No further try.
    GiveUp,
}

/// Decides what follows the try with this number, counted from 1. `chance` is a number from 0 to 1.
pub fn next(tried: &Tried, number: u32, chance: f64) -> Next {
    if tried.outcome == Outcome::Delivered {
        return Next::Done;
    }
    let wait = usize::try_from(number).ok().and_then(|number| RETRY_AFTER_MS.get(number.wrapping_sub(1)));
    match wait {
        Some(wait_ms) if !tried.is_final => {
            let moved = (*wait_ms as f64 * (1.0 + JITTER * (2.0 * chance - 1.0))) as i64;
            let asked = tried.retry_after_ms.unwrap_or(0).min(RETRY_AFTER_MAX_MS);
            Next::RetryAfterMs(moved.max(asked))
        }
        Some(_) | None => Next::GiveUp,
    }
}

/// A delivery, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Delivery {
    pub id: String,
    pub webhook_id: String,
    /// None for a test.
    pub event_id: Option<String>,
    pub event: Option<String>,
    pub state: State,
    pub attempts: u32,
    #[serde(serialize_with = "as_optional_time")]
    pub next_attempt_at: Option<i64>,
    #[serde(serialize_with = "as_time")]
    pub created_at: i64,
    pub log: Vec<Attempt>,
}

/// What an answer with a delivery holds.
pub static DELIVERY: Shape = Shape {
    name: "Delivery",
    fields: &[
        shape::id("dlv"),
        shape::text("webhook_id").says("The webhook it goes to."),
        shape::text("event_id").nullable().says("The event it tells of; null for a test."),
        shape::text("event").nullable().says("That event's name.").such_as("\"finding.created\""),
        shape::word("state", State::NAMES).says("Where it stands."),
        shape::whole("attempts").says("How often it was tried."),
        shape::time("next_attempt_at").nullable().says("When it is tried next, while it waits."),
        shape::CREATED_AT,
        shape::list("log", &Is::Record(&ATTEMPT)).says("Every try, the first one first."),
    ],
};

static ATTEMPT: Shape = Shape {
    name: "DeliveryAttempt",
    fields: &[
        shape::whole("attempt").says("Its number."),
        shape::time("at").says("When it began."),
        shape::word("outcome", Outcome::NAMES).says("How it ended."),
        shape::whole("http_status").nullable().says("What the receiver answered, if it did."),
        shape::whole("duration_ms").says("How long it took."),
    ],
};

/// One try, as the log shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Attempt {
    pub attempt: u32,
    #[serde(serialize_with = "as_time")]
    pub at: i64,
    pub outcome: Outcome,
    pub http_status: Option<u16>,
    pub duration_ms: i64,
}

/// A webhook's latest try, as the webhook shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct LastDelivery {
    #[serde(serialize_with = "as_time")]
    pub at: i64,
    pub outcome: Outcome,
    pub http_status: Option<u16>,
    pub attempts: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_follow_the_schedule_within_a_tenth() {
        let failed = Tried::answered(500, None);
        for (number, seconds) in [(1, 10), (2, 60), (3, 300), (4, 1800), (5, 7200), (6, 21600), (7, 43200)] {
            let wait = seconds * 1000;
            assert_eq!(next(&failed, number, 0.5), Next::RetryAfterMs(wait));
            assert_eq!(next(&failed, number, 0.0), Next::RetryAfterMs(wait * 9 / 10));
            assert_eq!(next(&failed, number, 1.0), Next::RetryAfterMs(wait * 11 / 10));
        }
        assert_eq!(next(&failed, 8, 0.5), Next::GiveUp);
    }

    #[test]
    fn a_longer_wait_is_granted_where_the_receiver_may_ask_for_one() {
        for status in [429, 503] {
            let tried = Tried::answered(status, Some(120_000));
            assert_eq!(next(&tried, 1, 0.5), Next::RetryAfterMs(120_000));
            assert_eq!(next(&tried, 3, 0.5), Next::RetryAfterMs(300_000), "the longer of the two");
            let days = Tried::answered(status, Some(10 * RETRY_AFTER_MAX_MS));
            assert_eq!(next(&days, 1, 0.5), Next::RetryAfterMs(RETRY_AFTER_MAX_MS));
        }
        assert_eq!(next(&Tried::answered(500, Some(120_000)), 1, 0.5), Next::RetryAfterMs(10_000));
    }

    #[test]
    fn some_answers_end_it() {
        assert_eq!(next(&Tried::answered(204, None), 1, 0.5), Next::Done);
        assert_eq!(next(&Tried::answered(410, None), 1, 0.5), Next::GiveUp);
        assert_eq!(next(&Tried::without_answer(Outcome::Blocked), 1, 0.5), Next::GiveUp);
        assert_eq!(next(&Tried::answered(302, None), 1, 0.5), Next::RetryAfterMs(10_000));
    }
}
