//! Concentration: the latest analysis, breaches by the limits of now, a new analysis, what if, and the limits.

use super::deed::settle;
use super::frame::Frame;
use super::part::{Cell, Facts, FaultList, Input, Inputs, badge};
use super::picture::Bar;
use super::plain::PlainForm;
use super::words::Words;
use super::{arrangement, asset, choose, render};
use crate::domain::analysis::UNKNOWN;
use crate::domain::arrangement::SUPPOSED_ARRANGEMENT;
use crate::domain::day::Day;
use crate::domain::form::Values;
use crate::domain::query::Query;
use crate::domain::risk::{ANALYZE, Basis, Breach, Dimension, THRESHOLD_PATCH, Thresholds};
use crate::domain::user::Act;
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use askama::Template;
use serde_json::{Map, Value, json};

const PATH: &str = "/concentration";
/// So many shares of a dimension are shown.
const SHARES_MAX: usize = 8;
const LIMITS: [&str; 6] = [
    "provider_concentration_pct",
    "sector_concentration_pct",
    "regional_concentration_pct",
    "technology_concentration_pct",
    "review_frequency_days",
    "enabled",
];

struct ShareLine {
    name: String,
    below: String,
    bar: Bar,
    pct: String,
}

struct DimensionView {
    id: &'static str,
    title: String,
    pill: &'static str,
    state: String,
    shares: Vec<ShareLine>,
    rest: usize,
    hhi: String,
    limit: String,
}

struct BreachLine {
    name: Cell,
    share: String,
    limit: String,
    over: String,
    severity: Cell,
}

/// An analysis, stored or supposed.
struct Told {
    facts: Facts,
    dimensions: Vec<DimensionView>,
    /// Critical functions that hang on one provider: the function, the provider and its services.
    points: Vec<Cell>,
}

#[derive(Template)]
#[template(path = "concentration.html")]
struct Page {
    frame: Frame,
    may_change: bool,
    basis: Input,
    told: Option<Told>,
    breaches: Vec<BreachLine>,
    enabled: bool,
    supposed: Option<Told>,
    what_if: Vec<Input>,
    faults: Option<FaultList>,
}

/// The limits, for whoever may not change them.
#[derive(Template)]
#[template(path = "limits.html")]
struct LimitsPage {
    frame: Frame,
    /// What, and how much.
    limits: Vec<(String, String)>,
}

/// `GET /concentration`
pub fn page(visit: &Visit) -> Answer {
    let inputs = Inputs::of(Words::of(visit), "arrangement", &SUPPOSED_ARRANGEMENT, Value::Null);
    Ok(Reply::html(made(visit, &inputs, None, None)?))
}

fn made(
    visit: &Visit,
    what_if: &Inputs,
    supposed: Option<Value>,
    faults: Option<FaultList>,
) -> Result<String, Error> {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let thresholds = tenant.thresholds()?;
    let today = Day::of_ms(visit.app.clock.now_ms());
    let latest = match tenant.latest_analysis() {
        Ok(body) => {
            let told = serde_json::from_str::<Value>(&body);
            Some(told.map_err(|cause| Error::internal("reading an analysis", cause))?)
        }
        Err(Error::NotFound(_)) => None,
        Err(other) => return Err(other),
    };
    let found = tenant.breaches(&Query::default())?;
    let providers = choose::providers(&tenant, visit.sent.text("provider_id"))?;
    let mut fields = vec![what_if.pick("provider_id", providers), what_if.field("provider")];
    fields.extend(arrangement::FIELDS.map(|name| what_if.field(name)));
    let told = |analysis: &Value| told(words, analysis, &thresholds, today);
    render(&Page {
        frame: Frame::of(visit, PATH)?,
        may_change: visit.may(Act::ChangeData),
        basis: Inputs::of(Words::of(visit), "concentration", &ANALYZE, json!({ "basis": "criticality" }))
            .field("basis"),
        told: latest.as_ref().map(told),
        breaches: found.listed.items.iter().map(|breach| breach_line(words, breach)).collect(),
        enabled: found.enabled,
        supposed: supposed.as_ref().map(told),
        what_if: fields,
        faults,
    })
}

fn told(words: Words, analysis: &Value, thresholds: &Thresholds, today: Day) -> Told {
    let number = |field: &str| words.number(analysis[field].as_u64().unwrap_or(0));
    let pct =
        |field: &str| Cell::text(format!("{} %", words.decimal(analysis[field].as_f64().unwrap_or(0.0))));
    let name = |field: &str| words.field("concentration", field);
    let review = analysis["next_review_on"].as_str().and_then(Day::parse);
    let at = analysis["analysed_at"].as_str().and_then(crate::clock::parse_rfc3339);
    let facts = Facts::default()
        .with(name("analysed_at"), Cell::optional_moment(words, at))
        .with(name("basis"), Cell::text(words.word(analysis["basis"].as_str().unwrap_or_default())))
        .with(name("arrangement_count"), Cell::text(number("arrangement_count")))
        .with(name("provider_count"), Cell::text(number("provider_count")))
        .with(name("breach_count"), Cell::text(number("breach_count")))
        .with(name("unknown_pct"), pct("unknown_pct"))
        .with(name("without_exit_plan_pct"), pct("without_exit_plan_pct"))
        .with(name("next_review_on"), Cell::due(words, review, today));
    let points = analysis["single_points_of_failure"].as_array().into_iter().flatten().map(|point| {
        let services: Vec<&str> =
            point["services"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let function = point["function"].as_str().unwrap_or_else(|| words.t("concentration.no_function"));
        let provider = point["provider"].as_str().unwrap_or_default();
        Cell::text(format!("{function}: {provider}")).below(services.join(", "))
    });
    Told {
        facts,
        dimensions: Dimension::ALL
            .map(|dimension| dimension_view(words, analysis, dimension, thresholds))
            .into(),
        points: points.take(50).collect(),
    }
}

fn dimension_view(
    words: Words,
    analysis: &Value,
    dimension: Dimension,
    thresholds: &Thresholds,
) -> DimensionView {
    let of = &analysis["dimensions"][dimension.name()];
    let limit = thresholds.pct(dimension) as f64;
    let shares: Vec<&Value> = of["shares"].as_array().into_iter().flatten().collect();
    let share_of = |share: &Value| share["share_pct"].as_f64().unwrap_or(0.0);
    let top = shares.first().map_or(0.0, |share| share_of(share));
    let far = words.decimal((top - limit).abs());
    let parts = [("far", far.as_str()), ("limit", &format!("{limit:.0}"))];
    let (pill, state) = match top > limit {
        true if top >= 1.5 * limit => ("pill pill-high", words.say("share.over", &parts)),
        true => ("pill pill-medium", words.say("share.over", &parts)),
        false => ("pill pill-good", words.say("share.below", &parts)),
    };
    let line = |share: &&Value| {
        let (name, pct) = (named(words, share["name"].as_str().unwrap_or_default()), share_of(share));
        let counts = ["arrangements", "critical_arrangements"].map(|field| share[field].to_string());
        ShareLine {
            name: name.to_owned(),
            below: words.say("concentration.counts", &[("a", counts[0].as_str()), ("b", &counts[1])]),
            bar: Bar::share(format!("{name}: {} %", words.decimal(pct)), pct, limit),
            pct: format!("{} %", words.decimal(pct)),
        }
    };
    DimensionView {
        id: dimension.name(),
        title: words.word(dimension.name()),
        pill,
        state,
        rest: shares.len().saturating_sub(SHARES_MAX),
        shares: shares.iter().take(SHARES_MAX).map(line).collect(),
        hhi: words.number(of["hhi"].as_u64().unwrap_or(0)),
        limit: format!("{limit:.0} %"),
    }
}

/// What a share is of: its own name, or that nobody said.
pub fn named(words: Words, name: &str) -> &str {
    if name == UNKNOWN { words.t("concentration.unknown") } else { name }
}

fn breach_line(words: Words, breach: &Breach) -> BreachLine {
    BreachLine {
        name: Cell::text(named(words, &breach.name)).below(words.word(breach.dimension.name())),
        share: format!("{} %", words.decimal(breach.share_pct)),
        limit: format!("{} %", breach.threshold_pct),
        over: words.decimal(breach.excess_pct),
        severity: badge(words, breach.severity.name()),
    }
}

/// `POST /concentration`: a new analysis.
pub fn analyse(visit: &Visit) -> Answer {
    let done = visit.sent.values().and_then(|values| {
        let basis = values.text("basis").and_then(Basis::parse).unwrap_or(Basis::Criticality);
        visit.tenant()?.analyse(basis)
    });
    match done {
        Ok(_) => Ok(visit.go(PATH, Notice::new("done.analysed"))),
        Err(Error::Invalid(faults)) => refused(visit, &faults),
        Err(other) => Err(other),
    }
}

/// `POST /concentration/what-if`: how it would be with one more arrangement. Nothing is stored.
pub fn what_if(visit: &Visit) -> Answer {
    let inputs = || Inputs::of(Words::of(visit), "arrangement", &SUPPOSED_ARRANGEMENT, Value::Null);
    settle(
        visit.sent.values().and_then(|values| suppose(visit, &values)),
        |supposed| {
            let inputs = inputs().again(visit, Faults::default());
            Ok(Reply::html(made(visit, &inputs, Some(supposed), None)?))
        },
        |faults| {
            let inputs = inputs().again(visit, faults);
            let list = inputs.faults();
            made(visit, &inputs, None, list)
        },
    )
}

fn suppose(visit: &Visit, values: &Values) -> Result<Value, Error> {
    let named = SUPPOSED_ARRANGEMENT.fields.iter().filter_map(|field| {
        let value = values.get(field.name).filter(|value| !value.is_null())?;
        Some((field.name.to_owned(), value.clone()))
    });
    let add: Map<String, Value> = named.collect();
    let body = json!({ "what_if": { "add": [add] } });
    let checked = ANALYZE.check(body.as_object().unwrap_or(&Map::new())).map_err(Error::Invalid)?;
    let what_if = checked.record("what_if").unwrap_or_default();
    Ok(json!(visit.tenant()?.analyse_supposed(Basis::Criticality, &what_if)?))
}

fn refused(visit: &Visit, faults: &Faults) -> Answer {
    let inputs = Inputs::of(Words::of(visit), "arrangement", &SUPPOSED_ARRANGEMENT, Value::Null);
    let list = Some(FaultList::refused(Words::of(visit), faults));
    Ok(Reply::faulty_page(made(visit, &inputs, None, list)?))
}

/// `GET /thresholds`
pub fn limits(visit: &Visit) -> Answer {
    let thresholds = visit.tenant()?.thresholds()?;
    if !visit.may(Act::ChangeData) {
        return Ok(Reply::html(shown_limits(visit, &thresholds)?));
    }
    let inputs = Inputs::of(Words::of(visit), "threshold", &THRESHOLD_PATCH, json!(thresholds));
    Ok(Reply::html(limits_page(visit, &inputs)?))
}

fn shown_limits(visit: &Visit, thresholds: &Thresholds) -> Result<String, Error> {
    let words = Words::of(visit);
    let held = json!(thresholds);
    let shown = |name: &str| match (held[name].as_bool(), name.ends_with("_pct")) {
        (Some(on), _) => words.word(if on { "true" } else { "false" }),
        (None, true) => format!("{} %", held[name]),
        (None, false) => held[name].to_string(),
    };
    render(&LimitsPage {
        frame: Frame::of(visit, "/thresholds")?,
        limits: LIMITS.map(|name| (words.field("threshold", name), shown(name))).into(),
    })
}

/// `POST /thresholds`
pub fn change_limits(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    settle(
        visit.sent.values().and_then(|values| tenant.change_thresholds(values)),
        |_| Ok(visit.go(PATH, Notice::new("done.thresholds_changed"))),
        |faults| {
            let inputs =
                Inputs::of(Words::of(visit), "threshold", &THRESHOLD_PATCH, json!(tenant.thresholds()?));
            limits_page(visit, &inputs.again(visit, faults))
        },
    )
}

fn limits_page(visit: &Visit, inputs: &Inputs) -> Result<String, Error> {
    let words = Words::of(visit);
    let page = PlainForm {
        frame: Frame::of(visit, "/thresholds")?,
        list: (PATH, words.t("concentration.title")),
        title: words.t("threshold.title"),
        lead: words.t("threshold.lead").to_owned(),
        action: "/thresholds".to_owned(),
        back: PATH.to_owned(),
        faults: inputs.faults(),
        fields: LIMITS.map(|name| inputs.field(name)).into(),
        save: words.t("threshold.save"),
    };
    page.page()
}
