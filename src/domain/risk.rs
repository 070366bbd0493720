//! Concentration risk. So far: the settings that a tenant may change.

use super::form::{Form, integer, switch};

/// The body of `PATCH /api/v1/concentration-risk/thresholds`: every field is optional.
pub static THRESHOLD_PATCH: Form = Form {
    name: "ThresholdPatch",
    fields: &[
        integer("provider_concentration_pct", 1, 100).says("Largest share that one provider may have."),
        integer("sector_concentration_pct", 1, 100).says("Largest share that one sector may have."),
        integer("regional_concentration_pct", 1, 100).says("Largest share that one region may have."),
        integer("technology_concentration_pct", 1, 100).says("Largest share that one technology may have."),
        integer("review_frequency_days", 30, 730).says("Days from one review to the next."),
        switch("enabled").says("Whether breaches are reported."),
    ],
    read_only: &["updated_at"],
};
