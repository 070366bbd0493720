//! The records of each dataset, one struct a kind. A field that the files do not
//! know, or miss, is an error; fields marked `skip_deserializing` are derived.

use super::words::*;
use serde::{Deserialize, Serialize};

/// One file: its date, what stands beside the records, and the records.
#[derive(Debug, Deserialize)]
pub struct File<Extra, Record> {
    /// When the content was last checked against its sources.
    pub updated_on: String,
    /// What stands beside the records.
    #[serde(flatten)]
    pub extra: Extra,
    /// The records.
    pub data: Vec<Record>,
}

/// Files with nothing beside their records.
#[derive(Debug, Deserialize, Serialize)]
pub struct Nothing {}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* #[allow(missing_docs, reason = "the field's name is the field's name in the API")] pub $field: $kind,)+
        }

        shape_of! { $name { $($field: $kind),+ } }
    };
}

record! {
    /// A risk of the register.
    Risk {
        id: String, title: String, category: String, description: String, cause: String, consequence: String,
        likelihood: u8, impact: u8,
        #[serde(skip_deserializing)] score: u8,
        #[serde(skip_deserializing, default = "lowest")] level: Level,
        residual_likelihood: u8, residual_impact: u8,
        #[serde(skip_deserializing)] residual_score: u8,
        #[serde(skip_deserializing, default = "lowest")] residual_level: Level,
        status: RiskStatus, owner_role: String, treatments: Vec<String>, article_refs: Vec<String>,
    }
}

fn lowest() -> Level {
    Level::Low
}

record! {
    /// A category of risks.
    RiskCategory { code: String, name: String, description: String, #[serde(skip_deserializing)] risks: usize, }
}
record! {
    /// One step of a scale.
    ScaleStep { value: u8, label: String, description: String, }
}
record! {
    /// The two scales of the risk matrix.
    Scales { likelihood: Vec<ScaleStep>, impact: Vec<ScaleStep>, }
}

/// What stands beside the risks.
#[derive(Debug, Deserialize)]
pub struct RiskExtra {
    /// Twelve categories.
    pub categories: Vec<RiskCategory>,
    /// Likelihood and impact.
    pub scales: Scales,
}

record! {
    /// An invented vendor.
    Vendor {
        id: String, name: String, archetype: String, service: String, service_types: Vec<String>,
        criticality: Criticality, locations: Vec<String>, scores: Scores,
        #[serde(skip_deserializing)] overall_score: u32,
        #[serde(skip_deserializing, default = "worst")] rating: Rating,
        remark: String,
    }
}

fn worst() -> Rating {
    Rating::D
}

record! {
    /// A vendor's scores, 0 to 100 each.
    Scores { security: u32, resilience: u32, compliance: u32, financial: u32, exit: u32, }
}
record! {
    /// One dimension of the scorecard.
    Dimension { key: DimensionKey, name: String, description: String, weight_pct: u32, }
}

/// What stands beside the vendors.
#[derive(Debug, Deserialize, Serialize)]
pub struct VendorExtra {
    /// That all of them are invented.
    pub notice: String,
    /// The five dimensions.
    pub dimensions: Vec<Dimension>,
}

record! {
    /// An incident drill.
    Drill {
        id: String, title: String, difficulty: Difficulty, format: String, duration_minutes: u32,
        participants: Vec<String>, background: String, objectives: Vec<String>, injects: Vec<Inject>,
        tasks: Vec<Task>, success_criteria: Vec<String>, article_refs: Vec<String>, measure_ids: Vec<String>,
    }
}
record! {
    /// News that reaches the players while a drill runs.
    Inject { at_minutes: u32, text: String, }
}
record! {
    /// Something the players have to do.
    Task { step: u32, text: String, owner_role: String, }
}
record! {
    /// A role in a drill.
    DrillRole { role: String, duty: String, }
}

/// What stands beside the drills.
#[derive(Debug, Deserialize, Serialize)]
pub struct DrillExtra {
    /// The roles common to all drills.
    pub roles: Vec<DrillRole>,
    /// What is measured in every drill.
    pub measuring_points: Vec<String>,
}

record! {
    /// A requirement of a framework and how far the reference institution meets it.
    Requirement {
        id: String, framework: Framework, area: String, article: String, title: String, requirement: String,
        status: Implementation, gap: Option<String>, recommendation: Option<String>, priority: Priority,
        owner_role: String, measure_ids: Vec<String>, confirmed: bool,
    }
}
record! {
    /// A framework of the gap analysis.
    FrameworkEntry { framework: Framework, name: String, legal_basis: String, description: String, }
}

/// What stands beside the requirements.
#[derive(Debug, Deserialize)]
pub struct GapExtra {
    /// That the states are illustrative.
    pub basis: String,
    /// The five frameworks.
    pub frameworks: Vec<FrameworkEntry>,
}

record! {
    /// A DORA measure.
    Measure {
        id: String, article: String, pillar: Pillar, area: Area, title: String, description: String, target: String,
        priority: Priority, tier: Reach, cycle: String,
        #[serde(skip_deserializing)] evidence_ids: Vec<String>,
        #[serde(skip_deserializing)] mappings: Mappings,
    }
}

/// Where the other frameworks ask for what a measure does.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "the field's name is the framework's name")]
pub struct Mappings {
    pub marisk: Vec<String>,
    pub iso_27001: Vec<String>,
    pub nis2: Vec<String>,
}

shape_of! { Mappings { marisk: Vec<String>, iso_27001: Vec<String>, nis2: Vec<String> } }

record! {
    /// A kind of evidence.
    Evidence {
        id: String, title: String, description: String, kind: EvidenceKind, cycle: String, owner_role: String,
        measure_ids: Vec<String>,
    }
}
record! {
    /// A signal from a supervisor.
    Signal {
        id: String, date: String, date_precision: DatePrecision, authority: String, kind: SignalKind, title: String,
        summary: String, relevance: Relevance, frameworks: Vec<SignalFramework>, action: String, source: String,
        confirmed: bool,
    }
}
record! {
    /// A dated milestone. Its status follows the clock and is no part of the data.
    Milestone {
        id: String, date: String, date_precision: DatePrecision, title: String, description: String,
        framework: MilestoneFramework, category: MilestoneCategory, authority: String, source: String,
        confirmed: bool,
    }
}
record! {
    /// A training module.
    Training {
        id: String, title: String, summary: String, audience: Vec<String>, difficulty: Difficulty,
        duration_minutes: u32, content: Vec<String>, learning_goals: Vec<String>, assessment: String,
        cycle: String, article_refs: Vec<String>,
    }
}
record! {
    /// A question to a vendor.
    Question {
        id: String, domain: String, question: String, guidance: String, weight: u32, expected_proof: String,
        article_refs: Vec<String>,
    }
}
record! {
    /// A domain of questions.
    QuestionDomain { domain: String, name: String, description: String, }
}
record! {
    /// A possible answer; null is "not applicable".
    AnswerStep { value: Option<u8>, label: String, }
}

/// What stands beside the questions.
#[derive(Debug, Deserialize, Serialize)]
pub struct QuestionExtra {
    /// Twelve domains.
    pub domains: Vec<QuestionDomain>,
    /// What may be answered.
    pub answer_scale: Vec<AnswerStep>,
    /// How a domain's score is computed.
    pub scoring: String,
}

record! {
    /// A dashboard widget.
    Widget {
        id: String, title: String, description: String, kind: WidgetKind, size: WidgetSize, source: String,
        refresh_seconds: u32,
    }
}
record! {
    /// A part of the platform and the beginnings of the paths that belong to it.
    Module { id: String, name: String, description: String, paths: Vec<String>, }
}
record! {
    /// An article of DORA.
    Article { article: u32, chapter: String, section: Option<String>, title: String, }
}
record! {
    /// An act that article references may name.
    Act {
        r#ref: String, title: String, published_on: Option<String>, in_force_on: Option<String>, subject: String,
    }
}

/// What stands beside the articles.
#[derive(Debug, Deserialize)]
pub struct ArticleExtra {
    /// Technical standards and other laws.
    pub acts: Vec<Act>,
}
