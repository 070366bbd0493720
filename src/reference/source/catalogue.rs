//! All datasets together, read and completed: scores, levels, ratings, the links
//! back from measures to evidence and to the other frameworks.

use super::check;
use super::record::*;
use super::words::{Framework, Level, Rating};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The whole reference data of this build.
#[derive(Debug)]
#[allow(missing_docs, reason = "one field a dataset, named like its file")]
pub struct Catalogue {
    pub risks: File<RiskExtra, Risk>,
    pub vendors: File<VendorExtra, Vendor>,
    pub drills: File<DrillExtra, Drill>,
    pub requirements: File<GapExtra, Requirement>,
    pub measures: File<Nothing, Measure>,
    pub evidence: File<Nothing, Evidence>,
    pub signals: File<Nothing, Signal>,
    pub milestones: File<Nothing, Milestone>,
    pub trainings: File<Nothing, Training>,
    pub questions: File<QuestionExtra, Question>,
    pub widgets: File<Nothing, Widget>,
    pub modules: File<Nothing, Module>,
    pub articles: File<ArticleExtra, Article>,
}

impl Catalogue {
    /// Reads every file by name, completes and checks them; all faults together are the error.
    pub fn read_checked<'a>(text_of: impl Fn(&str) -> Option<&'a str>) -> Result<Catalogue, Vec<String>> {
        let catalogue = Catalogue::read(text_of).map_err(|fault| vec![fault])?;
        let faults = check::faults(&catalogue);
        if faults.is_empty() { Ok(catalogue) } else { Err(faults) }
    }

    /// Reads and completes files that the build has checked.
    pub fn read<'a>(text_of: impl Fn(&str) -> Option<&'a str>) -> Result<Catalogue, String> {
        let mut catalogue = Catalogue::parse(text_of)?;
        catalogue.complete();
        Ok(catalogue)
    }

    fn parse<'a>(text_of: impl Fn(&str) -> Option<&'a str>) -> Result<Catalogue, String> {
        Ok(Catalogue {
            risks: parse(&text_of, "risk-register.json")?,
            vendors: parse(&text_of, "vendor-scorecard.json")?,
            drills: parse(&text_of, "incident-drills.json")?,
            requirements: parse(&text_of, "gap-analysis.json")?,
            measures: parse(&text_of, "measures.json")?,
            evidence: parse(&text_of, "evidence.json")?,
            signals: parse(&text_of, "radar.json")?,
            milestones: parse(&text_of, "timeline.json")?,
            trainings: parse(&text_of, "compliance-training.json")?,
            questions: parse(&text_of, "vendor-risk-assessment.json")?,
            widgets: parse(&text_of, "dashboard-widgets.json")?,
            modules: parse(&text_of, "modules.json")?,
            articles: parse(&text_of, "articles.json")?,
        })
    }

    fn complete(&mut self) {
        for risk in &mut self.risks.data {
            risk.score = risk.likelihood.saturating_mul(risk.impact);
            risk.level = Level::of_score(risk.score);
            risk.residual_score = risk.residual_likelihood.saturating_mul(risk.residual_impact);
            risk.residual_level = Level::of_score(risk.residual_score);
        }
        for category in &mut self.risks.extra.categories {
            category.risks = self.risks.data.iter().filter(|risk| risk.category == category.code).count();
        }
        for vendor in &mut self.vendors.data {
            vendor.overall_score = overall(&vendor.scores, &self.vendors.extra.dimensions);
            vendor.rating = Rating::of_score(vendor.overall_score);
        }
        for measure in &mut self.measures.data {
            let shows = |evidence: &&Evidence| evidence.measure_ids.contains(&measure.id);
            measure.evidence_ids =
                self.evidence.data.iter().filter(shows).map(|each| each.id.clone()).collect();
            let asked_by = |framework| articles_naming(&self.requirements.data, framework, &measure.id);
            measure.mappings = Mappings {
                marisk: asked_by(Framework::Marisk),
                iso_27001: asked_by(Framework::Iso27001),
                nis2: asked_by(Framework::Nis2),
            };
        }
    }
}

fn parse<'a, Extra: DeserializeOwned, Record: for<'de> Deserialize<'de>>(
    text_of: &impl Fn(&str) -> Option<&'a str>,
    name: &str,
) -> Result<File<Extra, Record>, String> {
    let text = text_of(name).ok_or_else(|| format!("{name}: the file is missing"))?;
    serde_json::from_str(text).map_err(|fault| format!("{name}: {fault}"))
}

/// The weighted mean, a half rounded up.
fn overall(scores: &Scores, dimensions: &[Dimension]) -> u32 {
    use super::words::DimensionKey::*;
    let weighted: u32 = dimensions
        .iter()
        .map(|dimension| {
            let score = match dimension.key {
                Security => scores.security,
                Resilience => scores.resilience,
                Compliance => scores.compliance,
                Financial => scores.financial,
                Exit => scores.exit,
            };
            score * dimension.weight_pct
        })
        .sum();
    (weighted + 50) / 100
}

fn articles_naming(requirements: &[Requirement], framework: Framework, measure_id: &String) -> Vec<String> {
    let mut articles: Vec<String> = Vec::new();
    for requirement in requirements.iter().filter(|each| each.framework == framework) {
        if requirement.measure_ids.contains(measure_id) && !articles.contains(&requirement.article) {
            articles.push(requirement.article.clone());
        }
    }
    articles
}
