//! Concentration risk: how much of it a tenant bears with, and where that is exceeded.
//!
//! The calculation is in `analysis`. Thresholds belong to the moment in which they
//! are asked for: breaches are found anew, from the unrounded shares of an analysis.

use super::analysis::ExactShare;
use super::arrangement::SUPPOSED_ARRANGEMENT;
use super::day::as_optional_time;
use super::form::{Form, Values, choice, integer, record, records, switch, texts};
use crate::shape::{self, Is, Shape, Shown, percent, text, whole, word};
use serde::{Serialize, Serializer};

words! {
    /// What an arrangement weighs by.
    Basis { Criticality = "criticality", Spend = "spend", Count = "count" }
}
words! {
    /// What shares are taken of.
    Dimension { Provider = "provider", Sector = "sector", Regional = "regional", Technology = "technology" }
}
words! {
    /// How bad a breach is.
    Severity { High = "high", Medium = "medium" }
}

impl Dimension {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Dimension; 4] =
        [Dimension::Provider, Dimension::Sector, Dimension::Regional, Dimension::Technology];
}

/// The body of `PATCH /api/v1/concentration-risk/thresholds`: every field is optional.
pub static THRESHOLD_PATCH: Form = Form {
    name: "ThresholdPatch",
    fields: &[
        integer("provider_concentration_pct", 1, 100)
            .says("Largest share that one provider may have.")
            .such_as("30"),
        integer("sector_concentration_pct", 1, 100)
            .says("Largest share that one sector may have.")
            .such_as("40"),
        integer("regional_concentration_pct", 1, 100)
            .says("Largest share that one region may have.")
            .such_as("50"),
        integer("technology_concentration_pct", 1, 100)
            .says("Largest share that one technology may have.")
            .such_as("40"),
        integer("review_frequency_days", 30, 730).says("Days from one review to the next.").such_as("365"),
        switch("enabled").says("Whether breaches are reported."),
    ],
    read_only: &["updated_at"],
};

/// Threshold settings, as they are shown.
pub static THRESHOLDS: Shape = Shape {
    name: "Thresholds",
    fields: &[
        THRESHOLD_PATCH.fields[0].shown(),
        THRESHOLD_PATCH.fields[1].shown(),
        THRESHOLD_PATCH.fields[2].shown(),
        THRESHOLD_PATCH.fields[3].shown(),
        THRESHOLD_PATCH.fields[4].shown(),
        THRESHOLD_PATCH.fields[5].shown(),
        shape::time("updated_at").nullable().says("When somebody last changed them; null for the defaults."),
    ],
};

/// A breach, as it is shown.
pub static BREACH: Shape = Shape {
    name: "Breach",
    fields: &[
        word("dimension", Dimension::NAMES).says("What the share is of."),
        text("name").says("Whose share it is.").such_as(r#""Nordlicht Cloud GmbH""#),
        percent("share_pct").says("The share.").such_as("43.8"),
        whole("threshold_pct").says("The largest share that is borne.").such_as("30"),
        percent("excess_pct").says("By how much it is larger.").such_as("13.8"),
        word("severity", Severity::NAMES).says("`high` from one and a half times the threshold."),
        Shown::new("analysis_id", Is::Id("anl")).says("The analysis it was found in."),
    ],
};

/// Changes of the register that an analysis only supposes, at the most.
const SUPPOSED_MAX: usize = 1_000;

static WHAT_IF: Form = Form {
    name: "WhatIf",
    fields: &[
        records("add", &SUPPOSED_ARRANGEMENT, SUPPOSED_MAX).says("Arrangements as if they were made."),
        texts("remove", SUPPOSED_MAX, 64).says("Ids of arrangements as if they were gone."),
    ],
    read_only: &[],
};

/// The body of `POST /api/v1/concentration-risk/analyze`, which may be left away.
pub static ANALYZE: Form = Form {
    name: "Analyze",
    fields: &[
        choice("basis", Basis::NAMES).says("What an arrangement weighs by; `criticality` if not given."),
        record("what_if", &WHAT_IF).nullable().says("With it the analysis is answered and not stored."),
    ],
    read_only: &[],
};

/// How much concentration a tenant bears with, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Thresholds {
    pub provider_concentration_pct: i64,
    pub sector_concentration_pct: i64,
    pub regional_concentration_pct: i64,
    pub technology_concentration_pct: i64,
    pub review_frequency_days: i64,
    pub enabled: bool,
    #[serde(serialize_with = "as_optional_time")]
    pub updated_at: Option<i64>,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            provider_concentration_pct: 30,
            sector_concentration_pct: 40,
            regional_concentration_pct: 50,
            technology_concentration_pct: 40,
            review_frequency_days: 365,
            enabled: true,
            updated_at: None,
        }
    }
}

impl Thresholds {
    /// The largest share that one value of a dimension may have.
    pub fn pct(&self, dimension: Dimension) -> i64 {
        match dimension {
            Dimension::Provider => self.provider_concentration_pct,
            Dimension::Sector => self.sector_concentration_pct,
            Dimension::Regional => self.regional_concentration_pct,
            Dimension::Technology => self.technology_concentration_pct,
        }
    }

    /// Changes what was given; nothing given changes nothing, not even the time.
    pub fn change(&mut self, values: &Values, now_ms: i64) {
        let set = |name: &str, slot: &mut i64| *slot = values.integer(name).unwrap_or(*slot);
        set("provider_concentration_pct", &mut self.provider_concentration_pct);
        set("sector_concentration_pct", &mut self.sector_concentration_pct);
        set("regional_concentration_pct", &mut self.regional_concentration_pct);
        set("technology_concentration_pct", &mut self.technology_concentration_pct);
        set("review_frequency_days", &mut self.review_frequency_days);
        self.enabled = values.switch("enabled").unwrap_or(self.enabled);
        if !values.is_empty() {
            self.updated_at = Some(now_ms);
        }
    }
}

/// A share that is larger than its threshold, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Breach {
    pub dimension: Dimension,
    pub name: String,
    #[serde(serialize_with = "one_decimal")]
    pub share_pct: f64,
    pub threshold_pct: i64,
    #[serde(serialize_with = "one_decimal")]
    pub excess_pct: f64,
    pub severity: Severity,
    pub analysis_id: Option<String>,
}

/// The breaches among the shares of an analysis, by the given thresholds; largest excess first.
/// A share that equals its threshold is none.
pub fn breaches(shares: &[ExactShare], thresholds: &Thresholds, analysis_id: Option<&str>) -> Vec<Breach> {
    let mut found: Vec<Breach> = shares
        .iter()
        .filter_map(|share| {
            let threshold_pct = thresholds.pct(share.dimension);
            let limit = threshold_pct as f64;
            (share.share_pct > limit).then(|| Breach {
                dimension: share.dimension,
                name: share.name.clone(),
                share_pct: share.share_pct,
                threshold_pct,
                excess_pct: share.share_pct - limit,
                severity: if share.share_pct >= 1.5 * limit { Severity::High } else { Severity::Medium },
                analysis_id: analysis_id.map(str::to_owned),
            })
        })
        .collect();
    found.sort_by(|one, other| {
        let by_excess = other.excess_pct.total_cmp(&one.excess_pct);
        by_excess.then(one.dimension.cmp(&other.dimension)).then_with(|| one.name.cmp(&other.name))
    });
    found
}

/// Shows an unrounded percentage with one decimal.
pub fn one_decimal<S: Serializer>(pct: &f64, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_f64((pct * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn share(dimension: Dimension, name: &str, share_pct: f64) -> ExactShare {
        ExactShare { dimension, name: name.into(), share_pct }
    }

    #[test]
    fn a_breach_is_more_than_the_threshold_and_high_from_one_and_a_half_times() {
        let shares = [
            share(Dimension::Provider, "equal", 30.0),
            share(Dimension::Provider, "just", 30.000_001),
            share(Dimension::Provider, "below", 44.999_9),
            share(Dimension::Provider, "high", 45.0),
            share(Dimension::Regional, "b", 65.0),
            share(Dimension::Regional, "a", 65.0),
        ];
        let found = breaches(&shares, &Thresholds::default(), Some("anl_1"));
        let names: Vec<&str> = found.iter().map(|breach| breach.name.as_str()).collect();
        assert_eq!(names, ["high", "a", "b", "below", "just"], "by excess, then dimension, then name");
        let severities: Vec<&str> = found.iter().map(|breach| breach.severity.name()).collect();
        assert_eq!(severities, ["high", "medium", "medium", "medium", "medium"]);
        let shown = json!(found[3]);
        assert_eq!((&shown["share_pct"], &shown["excess_pct"]), (&json!(45.0), &json!(15.0)));
        assert_eq!(shown["analysis_id"], "anl_1");
    }

    #[test]
    fn a_change_of_nothing_leaves_the_time_alone() {
        let values = |body: serde_json::Value| THRESHOLD_PATCH.check(body.as_object().unwrap()).unwrap();
        let mut thresholds = Thresholds::default();
        thresholds.change(&values(json!({ "updated_at": "ignored" })), 7);
        assert_eq!(thresholds, Thresholds::default());
        thresholds.change(&values(json!({ "enabled": "0", "sector_concentration_pct": 1 })), 7);
        let expected = Thresholds {
            enabled: false,
            sector_concentration_pct: 1,
            updated_at: Some(7),
            ..Thresholds::default()
        };
        assert_eq!(thresholds, expected);
    }
}
