//! The datasets as rows: where each is served from and what it may be asked for.
//!
//! A list over a dataset needs no code of its own: the parameters here name facets
//! of its records, and `facets` says what they are.

use super::source::Catalogue;
use super::source::record::{
    Dimension, Drill, DrillRole, Evidence, FrameworkEntry, Measure, Question, Requirement, Risk,
    RiskCategory, Scales, Signal, Training, Vendor, Widget,
};
use super::source::words::{
    Criticality, Difficulty, Framework, Implementation, Level, Pillar, Priority, RiskStatus,
};
use crate::domain::query::{LIMIT, OFFSET, Param, ParamKind, SEARCH, filter};
use crate::shape::{Is, Shape, Shown, list, record, text, whole, word};

/// One dataset.
#[derive(Debug)]
pub struct Dataset {
    /// Its name in paths and files.
    pub slug: &'static str,
    /// What one of its records is called.
    pub noun: &'static str,
    /// Where one record is found; `{id}` stands for its id.
    pub at: &'static str,
    /// The query parameters of its filtered list.
    pub params: &'static [Param],
    /// What a record looks like.
    pub shape: &'static Shape,
    /// What its public body has beside `data` and `meta`.
    pub beside: &'static [Shown],
}

/// What a record is filtered by, and what it is searched in.
#[derive(Debug, Default)]
pub struct Facets {
    /// The record's id.
    pub id: String,
    /// Parameter name and the record's word for it.
    pub words: Vec<(&'static str, &'static str)>,
    /// The number that `min_score` is held against.
    pub score: Option<u32>,
    /// The texts that `search` looks into, the title first.
    pub texts: Vec<String>,
}

impl Facets {
    /// The title, and the other texts.
    pub fn title_and_texts(&self) -> (&str, &[String]) {
        self.texts.split_first().map_or(("", &[]), |(title, rest)| (title.as_str(), rest))
    }
}

static RISKS_BESIDE: &[Shown] = &[
    Shown::typed::<Vec<RiskCategory>>("categories").says("The categories of risks."),
    record("matrix", &MATRIX).says("Likelihood against impact."),
];
static MATRIX: Shape = Shape {
    name: "RiskMatrix",
    fields: &[Shown::typed::<Scales>("scales"), list("rows", &Is::Record(&MATRIX_ROW))],
};
static MATRIX_ROW: Shape =
    Shape { name: "RiskMatrixRow", fields: &[whole("likelihood"), list("cells", &Is::Record(&MATRIX_CELL))] };
static MATRIX_CELL: Shape = Shape {
    name: "RiskMatrixCell",
    fields: &[
        whole("likelihood"),
        whole("impact"),
        whole("score"),
        word("level", Level::NAMES),
        whole("risks"),
    ],
};
static VENDORS_BESIDE: &[Shown] = &[
    text("notice").says("That all vendors are invented."),
    Shown::typed::<Vec<Dimension>>("dimensions").says("The five dimensions of a score."),
];
static DRILLS_BESIDE: &[Shown] = &[
    Shown::typed::<Vec<DrillRole>>("roles").says("The roles common to all drills."),
    Shown::typed::<Vec<String>>("measuring_points").says("What is measured in every drill."),
];
static GAPS_BESIDE: &[Shown] = &[
    text("basis").says("That the states are illustrative."),
    Shown::typed::<Vec<FrameworkEntry>>("frameworks").says("The four frameworks."),
];

/// ICT risks.
pub static RISK_REGISTER: Dataset = Dataset {
    slug: "risk-register",
    noun: "risk",
    at: "/api/v2/risk-register?search={id}",
    shape: Risk::SHAPE,
    beside: RISKS_BESIDE,
    params: &[
        LIMIT,
        OFFSET,
        SEARCH,
        filter("level", Level::NAMES, "Only risks of this level."),
        filter("status", RiskStatus::NAMES, "Only risks with this status."),
    ],
};
/// Invented vendors.
pub static VENDOR_SCORECARD: Dataset = Dataset {
    slug: "vendor-scorecard",
    noun: "vendor",
    at: "/api/v2/vendor-scorecard?search={id}",
    shape: Vendor::SHAPE,
    beside: VENDORS_BESIDE,
    params: &[
        LIMIT,
        OFFSET,
        SEARCH,
        filter("level", Criticality::NAMES, "The same as `criticality`."),
        filter("criticality", Criticality::NAMES, "Only vendors of this criticality."),
        Param {
            name: "min_score",
            kind: ParamKind::Integer { min: 0, max: 100 },
            says: "Only vendors whose overall score is at least this.",
        },
    ],
};
/// Incident drills.
pub static INCIDENT_DRILLS: Dataset = Dataset {
    slug: "incident-drills",
    noun: "drill",
    at: "/api/v2/incident-drills?search={id}",
    shape: Drill::SHAPE,
    beside: DRILLS_BESIDE,
    params: &[
        LIMIT,
        OFFSET,
        SEARCH,
        filter("level", Difficulty::NAMES, "The same as `difficulty`."),
        filter("difficulty", Difficulty::NAMES, "Only drills of this difficulty."),
    ],
};
const GAP_FRAMEWORKS: &[&str] = &["dora", "marisk", "iso-27001", "nis2"];
/// Requirements of four frameworks.
pub static GAP_ANALYSIS: Dataset = Dataset {
    slug: "gap-analysis",
    noun: "requirement",
    at: "/api/v2/gap-analysis?search={id}",
    shape: Requirement::SHAPE,
    beside: GAPS_BESIDE,
    params: &[
        LIMIT,
        OFFSET,
        SEARCH,
        filter("level", Priority::NAMES, "Only requirements of this priority."),
        filter("status", Implementation::NAMES, "Only requirements with this state of implementation."),
        filter("framework", GAP_FRAMEWORKS, "Only requirements of this framework."),
    ],
};
/// DORA measures.
pub static MEASURES: Dataset = Dataset {
    slug: "measures",
    noun: "measure",
    at: "/api/v1/dora/measures/{id}",
    shape: Measure::SHAPE,
    beside: &[],
    params: &[
        LIMIT,
        OFFSET,
        SEARCH,
        filter("pillar", Pillar::NAMES, "Only measures of this pillar."),
        filter("priority", Priority::NAMES, "Only measures of this priority."),
    ],
};
/// Kinds of evidence.
pub static EVIDENCE: Dataset = Dataset {
    slug: "evidence",
    noun: "evidence",
    at: "/api/evidence",
    shape: Evidence::SHAPE,
    beside: &[],
    params: &[LIMIT, OFFSET, SEARCH],
};
/// Supervisory signals.
pub static RADAR: Dataset = Dataset {
    slug: "radar",
    noun: "signal",
    at: "/api/radar",
    shape: Signal::SHAPE,
    beside: &[],
    params: &[LIMIT, OFFSET, SEARCH],
};
/// Training modules.
pub static TRAINING: Dataset = Dataset {
    slug: "compliance-training",
    noun: "training",
    at: "/api/v2/compliance-training?search={id}",
    shape: Training::SHAPE,
    beside: &[],
    params: &[
        LIMIT,
        OFFSET,
        SEARCH,
        filter("level", Difficulty::NAMES, "The same as `difficulty`."),
        filter("difficulty", Difficulty::NAMES, "Only modules of this difficulty."),
    ],
};
/// Questions to a vendor.
pub static VENDOR_QUESTIONS: Dataset = Dataset {
    slug: "vendor-risk-assessment",
    noun: "question",
    at: "/api/v2/vendor-risk-assessment?search={id}",
    shape: Question::SHAPE,
    beside: &[],
    params: &[LIMIT, OFFSET, SEARCH],
};
/// Dashboard widgets.
pub static WIDGETS: Dataset = Dataset {
    slug: "dashboard-widgets",
    noun: "widget",
    at: "/api/v2/dashboard-widgets?search={id}",
    shape: Widget::SHAPE,
    beside: &[],
    params: &[LIMIT, OFFSET, SEARCH],
};

/// Every dataset.
pub static ALL: &[&Dataset] = &[
    &RISK_REGISTER,
    &VENDOR_SCORECARD,
    &INCIDENT_DRILLS,
    &GAP_ANALYSIS,
    &MEASURES,
    &EVIDENCE,
    &RADAR,
    &TRAINING,
    &VENDOR_QUESTIONS,
    &WIDGETS,
];

/// The facets of a dataset's records, in their order. `None` for a slug that nobody knows.
pub fn facets(slug: &str, catalogue: &Catalogue) -> Option<Vec<Facets>> {
    let all = match slug {
        "risk-register" => catalogue.risks.data.iter().map(risk).collect(),
        "vendor-scorecard" => catalogue.vendors.data.iter().map(vendor).collect(),
        "incident-drills" => catalogue.drills.data.iter().map(drill).collect(),
        "gap-analysis" => {
            let four = catalogue.requirements.data.iter().filter(|each| each.framework != Framework::Cra);
            four.map(requirement).collect()
        }
        "measures" => catalogue.measures.data.iter().map(measure).collect(),
        "evidence" => {
            texts_only(&catalogue.evidence.data, |each| (&each.id, vec![&each.title, &each.description]))
        }
        "radar" => texts_only(&catalogue.signals.data, |each| {
            (&each.id, vec![&each.title, &each.summary, &each.action, &each.authority])
        }),
        "compliance-training" => catalogue.trainings.data.iter().map(training).collect(),
        "vendor-risk-assessment" => texts_only(&catalogue.questions.data, |each| {
            (&each.id, vec![&each.question, &each.guidance, &each.expected_proof, &each.domain])
        }),
        "dashboard-widgets" => {
            texts_only(&catalogue.widgets.data, |each| (&each.id, vec![&each.title, &each.description]))
        }
        _ => return None,
    };
    Some(all)
}

fn risk(risk: &Risk) -> Facets {
    Facets {
        id: risk.id.clone(),
        words: vec![("level", risk.level.name()), ("status", risk.status.name())],
        score: None,
        texts: owned(&[&risk.title, &risk.description, &risk.cause, &risk.consequence, &risk.owner_role]),
    }
}

fn vendor(vendor: &Vendor) -> Facets {
    let criticality = vendor.criticality.name();
    Facets {
        id: vendor.id.clone(),
        words: vec![("level", criticality), ("criticality", criticality)],
        score: Some(vendor.overall_score),
        texts: owned(&[&vendor.name, &vendor.archetype, &vendor.service, &vendor.remark]),
    }
}

fn drill(drill: &Drill) -> Facets {
    let difficulty = drill.difficulty.name();
    let mut texts = owned(&[&drill.title, &drill.background, &drill.format]);
    texts.extend(drill.tasks.iter().map(|task| task.text.clone()));
    Facets {
        id: drill.id.clone(),
        words: vec![("level", difficulty), ("difficulty", difficulty)],
        score: None,
        texts,
    }
}

fn requirement(requirement: &Requirement) -> Facets {
    let mut texts =
        owned(&[&requirement.title, &requirement.requirement, &requirement.article, &requirement.area]);
    texts.extend(requirement.gap.clone());
    Facets {
        id: requirement.id.clone(),
        words: vec![
            ("level", requirement.priority.name()),
            ("status", requirement.status.name()),
            ("framework", requirement.framework.name()),
        ],
        score: None,
        texts,
    }
}

fn measure(measure: &Measure) -> Facets {
    Facets {
        id: measure.id.clone(),
        words: vec![("pillar", measure.pillar.name()), ("priority", measure.priority.name())],
        score: None,
        texts: owned(&[&measure.title, &measure.description, &measure.target, &measure.article]),
    }
}

fn training(training: &Training) -> Facets {
    let difficulty = training.difficulty.name();
    let mut texts = owned(&[&training.title, &training.summary]);
    texts.extend(training.audience.iter().chain(&training.content).cloned());
    Facets {
        id: training.id.clone(),
        words: vec![("level", difficulty), ("difficulty", difficulty)],
        score: None,
        texts,
    }
}

fn texts_only<T>(records: &[T], of: impl Fn(&T) -> (&String, Vec<&String>)) -> Vec<Facets> {
    let facets = |record| {
        let (id, texts) = of(record);
        Facets { id: id.clone(), texts: owned(&texts), ..Facets::default() }
    };
    records.iter().map(facets).collect()
}

fn owned(texts: &[&String]) -> Vec<String> {
    texts.iter().map(|text| (*text).clone()).collect()
}
