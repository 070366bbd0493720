//! The text of each stage of a CRA report, ready to be copied into an authority's form.
//!
//! It is made from the record alone. What is not known yet is named, so that nothing is sent by oversight.

use super::time;
use super::words::Words;
use crate::domain::cra::{CraReport, Kind, Stage};

/// The text of a stage.
pub struct Letter {
    /// The stage.
    pub stage: Stage,
    /// What it is called.
    pub name: String,
    /// Plain text.
    pub text: String,
    /// The names of fields that are still open.
    pub open: Vec<String>,
}

impl Letter {
    /// The text of a stage, as the record stands.
    pub fn of(words: Words, report: &CraReport, stage: Stage) -> Letter {
        let name = words.word(stage.name());
        let article = words.t(article(report.kind, stage));
        let heading = words.say("cra.letter.heading", &[("stage", &name), ("article", article)]);
        let mut letter = Letter { stage, name, text: heading + "\n\n", open: Vec::new() };
        letter.facts(words, report);
        letter.sent_before(words, report);
        for field in told(stage) {
            letter.section(words, report, field);
        }
        letter.states(words, report);
        letter
    }

    fn line(&mut self, words: Words, field: &str, value: Option<String>) {
        let label = words.field("cra", field);
        match value {
            Some(value) => self.text.push_str(&format!("{label}: {value}\n")),
            None => {
                self.text.push_str(&format!("{label}: {}\n", words.t("cra.letter.open")));
                self.open.push(label);
            }
        }
    }

    fn facts(&mut self, words: Words, report: &CraReport) {
        let product = match &report.product_version {
            Some(version) => format!("{}, {version}", report.product_name),
            None => report.product_name.clone(),
        };
        self.line(words, "title", Some(report.title.clone()));
        self.line(words, "product_name", Some(product));
        self.line(words, "became_aware_at", report.became_aware_at.map(|at| time::moment(words, at)));
        if let Some(cve) = &report.cve_id {
            self.line(words, "cve_id", Some(cve.clone()));
        }
        if let Some(severity) = report.severity {
            let score = report.cvss_score.map(|score| format!(", CVSS {score:.1}")).unwrap_or_default();
            self.line(words, "severity", Some(words.word(severity.name()) + &score));
        }
        if self.stage == Stage::FinalReport {
            self.line(
                words,
                "corrective_measure_at",
                report.corrective_measure_at.map(|at| time::moment(words, at)),
            );
        }
    }

    /// The stages before this one, with their references.
    fn sent_before(&mut self, words: Words, report: &CraReport) {
        for stage in Stage::ALL.into_iter().take_while(|stage| *stage != self.stage) {
            let Some(sent_at) = report.sent_at(stage) else { continue };
            let submission = report.submissions.iter().find(|submission| submission.stage == stage);
            let reference = submission.and_then(|submission| submission.reference.as_deref());
            let reference = reference.map(|text| format!(", {text}")).unwrap_or_default();
            let name = words.word(stage.name());
            self.text.push_str(&format!("{name}: {}{reference}\n", time::moment(words, sent_at)));
        }
    }

    fn section(&mut self, words: Words, report: &CraReport, field: &str) {
        let value = match field {
            "summary" => &report.summary,
            "root_cause" => &report.root_cause,
            "mitigation" => &report.mitigation,
            _ => &report.user_guidance,
        };
        let label = words.field("cra", field);
        let text = match value {
            Some(text) => text.trim().to_owned(),
            None => {
                self.open.push(label.clone());
                words.t("cra.letter.open").to_owned()
            }
        };
        self.text.push_str(&format!("\n{label}\n{text}\n"));
    }

    fn states(&mut self, words: Words, report: &CraReport) {
        self.text.push('\n');
        let states = (!report.member_states.is_empty()).then(|| report.member_states.join(", "));
        self.line(words, "member_states", states);
    }
}

/// What a stage tells beyond the facts.
fn told(stage: Stage) -> &'static [&'static str] {
    match stage {
        Stage::EarlyWarning => &["summary"],
        Stage::Notification => &["summary", "mitigation", "user_guidance"],
        Stage::FinalReport => &["summary", "root_cause", "mitigation", "user_guidance"],
    }
}

/// Where in Regulation (EU) 2024/2847 a stage is asked for.
fn article(kind: Kind, stage: Stage) -> &'static str {
    match (kind, stage) {
        (Kind::ExploitedVulnerability, Stage::EarlyWarning) => "cra.article.14(2)(a)",
        (Kind::ExploitedVulnerability, Stage::Notification) => "cra.article.14(2)(b)",
        (Kind::ExploitedVulnerability, Stage::FinalReport) => "cra.article.14(2)(c)",
        (Kind::SevereIncident, Stage::EarlyWarning) => "cra.article.14(4)(a)",
        (Kind::SevereIncident, Stage::Notification) => "cra.article.14(4)(b)",
        (Kind::SevereIncident, Stage::FinalReport) => "cra.article.14(4)(c)",
    }
}
