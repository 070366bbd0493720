//! What must hold across the datasets: unique ids, real dates, links that resolve,
//! numbers within their scales. Every fault is a line that names its record.

use super::catalogue::Catalogue;
use super::record::*;
use super::words::{Framework, Implementation, Reach};
use std::collections::HashSet;

/// All faults of the catalogue; none means that it may be shipped.
pub fn faults(catalogue: &Catalogue) -> Vec<String> {
    let mut faults = Vec::new();
    ids(catalogue, &mut faults);
    dates(catalogue, &mut faults);
    scales(catalogue, &mut faults);
    measure_links(catalogue, &mut faults);
    article_links(catalogue, &mut faults);
    groups(catalogue, &mut faults);
    gaps(catalogue, &mut faults);
    faults
}

fn ids(catalogue: &Catalogue, faults: &mut Vec<String>) {
    let mut unique = |kind: &str, ids: Vec<&String>| {
        let mut seen = HashSet::new();
        for id in ids {
            if id.is_empty() || !seen.insert(id) {
                faults.push(format!("{kind}: id `{id}` is empty or used twice"));
            }
        }
    };
    unique("risk", catalogue.risks.data.iter().map(|each| &each.id).collect());
    unique("vendor", catalogue.vendors.data.iter().map(|each| &each.id).collect());
    unique("drill", catalogue.drills.data.iter().map(|each| &each.id).collect());
    unique("requirement", catalogue.requirements.data.iter().map(|each| &each.id).collect());
    unique("measure", catalogue.measures.data.iter().map(|each| &each.id).collect());
    unique("evidence", catalogue.evidence.data.iter().map(|each| &each.id).collect());
    unique("signal", catalogue.signals.data.iter().map(|each| &each.id).collect());
    unique("milestone", catalogue.milestones.data.iter().map(|each| &each.id).collect());
    unique("training", catalogue.trainings.data.iter().map(|each| &each.id).collect());
    unique("question", catalogue.questions.data.iter().map(|each| &each.id).collect());
    unique("widget", catalogue.widgets.data.iter().map(|each| &each.id).collect());
    unique("module", catalogue.modules.data.iter().map(|each| &each.id).collect());
}

fn dates(catalogue: &Catalogue, faults: &mut Vec<String>) {
    let mut real = |what: &str, date: &str| {
        if date.parse::<jiff::civil::Date>().is_err() || date.len() != "2026-11-14".len() {
            faults.push(format!("{what}: `{date}` is no date"));
        }
    };
    for signal in &catalogue.signals.data {
        real(&signal.id, &signal.date);
    }
    for milestone in &catalogue.milestones.data {
        real(&milestone.id, &milestone.date);
    }
    for act in &catalogue.articles.extra.acts {
        for date in [&act.published_on, &act.in_force_on].into_iter().flatten() {
            real(&act.r#ref, date);
        }
    }
    for (file, date) in [
        ("risk-register", &catalogue.risks.updated_on),
        ("vendor-scorecard", &catalogue.vendors.updated_on),
        ("incident-drills", &catalogue.drills.updated_on),
        ("gap-analysis", &catalogue.requirements.updated_on),
        ("measures", &catalogue.measures.updated_on),
        ("evidence", &catalogue.evidence.updated_on),
        ("radar", &catalogue.signals.updated_on),
        ("timeline", &catalogue.milestones.updated_on),
        ("compliance-training", &catalogue.trainings.updated_on),
        ("vendor-risk-assessment", &catalogue.questions.updated_on),
        ("dashboard-widgets", &catalogue.widgets.updated_on),
        ("modules", &catalogue.modules.updated_on),
        ("articles", &catalogue.articles.updated_on),
    ] {
        real(file, date);
    }
}

fn scales(catalogue: &Catalogue, faults: &mut Vec<String>) {
    for risk in &catalogue.risks.data {
        let steps = [risk.likelihood, risk.impact, risk.residual_likelihood, risk.residual_impact];
        if !steps.iter().all(|step| (1..=5).contains(step)) || risk.residual_score > risk.score {
            faults.push(format!("{}: off the scale, or worse after treatment", risk.id));
        }
    }
    for vendor in &catalogue.vendors.data {
        let scores = &vendor.scores;
        let all = [scores.security, scores.resilience, scores.compliance, scores.financial, scores.exit];
        if all.iter().any(|score| *score > 100) {
            faults.push(format!("{}: a score over 100", vendor.id));
        }
    }
    let weights: u32 = catalogue.vendors.extra.dimensions.iter().map(|dimension| dimension.weight_pct).sum();
    if weights != 100 || catalogue.vendors.extra.dimensions.len() != 5 {
        faults.push(format!("vendor-scorecard: five dimensions must weigh 100 together, not {weights}"));
    }
    for drill in &catalogue.drills.data {
        let times: Vec<u32> = drill.injects.iter().map(|inject| inject.at_minutes).collect();
        if !times.is_sorted() || times.last().is_none_or(|last| *last > drill.duration_minutes) {
            faults.push(format!("{}: injects out of order or after the end", drill.id));
        }
        if drill.tasks.iter().zip(1..).any(|(task, step)| task.step != step)
            || drill.success_criteria.is_empty()
        {
            faults.push(format!("{}: tasks not numbered from 1, or no success criteria", drill.id));
        }
    }
    for question in catalogue.questions.data.iter().filter(|each| !(1..=5).contains(&each.weight)) {
        faults.push(format!("{}: weight {} is not 1 to 5", question.id, question.weight));
    }
}

fn measure_links(catalogue: &Catalogue, faults: &mut Vec<String>) {
    let known: HashSet<&String> = catalogue.measures.data.iter().map(|measure| &measure.id).collect();
    let mut resolve = |from: &str, ids: &[String]| {
        for id in ids.iter().filter(|id| !known.contains(id)) {
            faults.push(format!("{from}: no measure `{id}`"));
        }
    };
    catalogue.evidence.data.iter().for_each(|each| resolve(&each.id, &each.measure_ids));
    catalogue.drills.data.iter().for_each(|each| resolve(&each.id, &each.measure_ids));
    catalogue.requirements.data.iter().for_each(|each| resolve(&each.id, &each.measure_ids));
    for measure in catalogue.measures.data.iter().filter(|measure| measure.tier == Reach::Core) {
        if measure.evidence_ids.is_empty() {
            faults.push(format!("{}: a core measure without evidence", measure.id));
        }
        let required =
            |each: &Requirement| each.framework == Framework::Dora && each.measure_ids.contains(&measure.id);
        if !catalogue.requirements.data.iter().any(required) {
            faults.push(format!("{}: a core measure that no DORA requirement names", measure.id));
        }
    }
}

fn article_links(catalogue: &Catalogue, faults: &mut Vec<String>) {
    let articles: HashSet<u32> = catalogue.articles.data.iter().map(|each| each.article).collect();
    let acts: Vec<&str> = catalogue.articles.extra.acts.iter().map(|each| each.r#ref.as_str()).collect();
    let known = |reference: &str| match reference.strip_prefix("Art. ") {
        Some(rest) => {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().is_ok_and(|number| articles.contains(&number))
        }
        None => acts.iter().any(|act| {
            reference.strip_prefix(act).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        }),
    };
    let mut resolve = |from: &str, references: Vec<&str>| {
        for reference in references.into_iter().filter(|reference| !known(reference)) {
            faults.push(format!("{from}: no article `{reference}`"));
        }
    };
    let plain = |references: &'_ [String]| -> Vec<String> { references.to_vec() };
    for (id, references) in catalogue
        .risks
        .data
        .iter()
        .map(|each| (&each.id, plain(&each.article_refs)))
        .chain(catalogue.drills.data.iter().map(|each| (&each.id, plain(&each.article_refs))))
        .chain(catalogue.trainings.data.iter().map(|each| (&each.id, plain(&each.article_refs))))
        .chain(catalogue.questions.data.iter().map(|each| (&each.id, plain(&each.article_refs))))
    {
        resolve(id, references.iter().map(String::as_str).collect());
    }
    for measure in &catalogue.measures.data {
        resolve(&measure.id, measure.article.split("; ").collect());
    }
}

fn groups(catalogue: &Catalogue, faults: &mut Vec<String>) {
    let categories: HashSet<&str> =
        catalogue.risks.extra.categories.iter().map(|each| each.code.as_str()).collect();
    for risk in catalogue.risks.data.iter().filter(|risk| !categories.contains(risk.category.as_str())) {
        faults.push(format!("{}: no category `{}`", risk.id, risk.category));
    }
    let domains: HashSet<&str> =
        catalogue.questions.extra.domains.iter().map(|each| each.domain.as_str()).collect();
    for question in catalogue.questions.data.iter().filter(|each| !domains.contains(each.domain.as_str())) {
        faults.push(format!("{}: no domain `{}`", question.id, question.domain));
    }
    let roles: HashSet<&str> = catalogue.drills.extra.roles.iter().map(|each| each.role.as_str()).collect();
    for drill in &catalogue.drills.data {
        for task in drill.tasks.iter().filter(|task| !roles.contains(task.owner_role.as_str())) {
            faults.push(format!("{}: no role `{}`", drill.id, task.owner_role));
        }
    }
}

fn gaps(catalogue: &Catalogue, faults: &mut Vec<String>) {
    for requirement in &catalogue.requirements.data {
        let met = requirement.status == Implementation::Implemented;
        if met != requirement.gap.is_none() || met != requirement.recommendation.is_none() {
            faults.push(format!(
                "{}: gap and recommendation belong to what is not implemented",
                requirement.id
            ));
        }
    }
    let listed: Vec<Framework> =
        catalogue.requirements.extra.frameworks.iter().map(|each| each.framework).collect();
    if listed != [Framework::Dora, Framework::Marisk, Framework::Iso27001, Framework::Nis2, Framework::Cra] {
        faults.push("gap-analysis: the five frameworks must stand in their order".into());
    }
}
