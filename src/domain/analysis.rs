//! The analysis of concentration: a pure calculation over a register.
//!
//! Gaps are counted and never dropped: a value that is missing is a share of its own,
//! named `unknown`. Weights are whole numbers and shares stay unrounded until they are
//! shown, so a share that equals its threshold is never taken for a breach.

use super::arrangement::{Arrangement, Substitutability};
use super::day::{Day, as_time};
use super::provider::Provider;
use super::risk::{Basis, Dimension, Thresholds, breaches, one_decimal};
use crate::error::Faults;
use crate::shape::{self, Is, Shape, Shown, flag, list, percent, record, text, whole, word};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The share of what is not known. Who writes this word knows as little as who writes none.
pub const UNKNOWN: &str = "unknown";
/// Money is counted in hundredths of a cent, so that ten times 0.10 is exactly 1.
const UNITS_PER_EURO: f64 = 10_000.0;

/// All that a tenant buys, and from whom.
#[derive(Clone, Debug, Default)]
pub struct Register {
    /// The providers.
    pub providers: Vec<Provider>,
    /// The arrangements with them.
    pub arrangements: Vec<Arrangement>,
}

/// An analysis, as v1 shows it. `id` is null if it is not stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Analysis {
    pub id: Option<String>,
    pub basis: Basis,
    #[serde(serialize_with = "as_time")]
    pub analysed_at: i64,
    pub next_review_on: Day,
    pub arrangement_count: usize,
    /// Providers with at least one of these arrangements.
    pub provider_count: usize,
    pub breach_count: usize,
    /// Arrangements that lack something the analysis looks at.
    #[serde(serialize_with = "one_decimal")]
    pub unknown_pct: f64,
    /// Arrangements without an exit plan, or of which nobody knows.
    #[serde(serialize_with = "one_decimal")]
    pub without_exit_plan_pct: f64,
    pub single_points_of_failure: Vec<SinglePoint>,
    pub dimensions: BTreeMap<Dimension, Concentration>,
}

/// An analysis, as it is shown.
pub static ANALYSIS: Shape = Shape {
    name: "Analysis",
    fields: &[
        shape::id("anl").nullable().says("Its identifier; null for a question what would be."),
        word("basis", Basis::NAMES).says("What an arrangement weighs by."),
        shape::time("analysed_at").says("When."),
        Shown::new("next_review_on", Is::Day).says("When the next review is due."),
        whole("arrangement_count").such_as("25"),
        whole("provider_count").says("Providers with at least one of these arrangements.").such_as("12"),
        whole("breach_count").says("Shares over their threshold.").such_as("2"),
        percent("unknown_pct").says("Arrangements that lack something the analysis looks at.").such_as("4.0"),
        percent("without_exit_plan_pct").says("Arrangements without an exit plan, or of which nobody knows."),
        list("single_points_of_failure", &Is::Record(&SINGLE_POINT))
            .says("Critical functions that hang on one provider."),
        record("dimensions", &DIMENSIONS).says("The shares, one object a dimension."),
    ],
};

static DIMENSIONS: Shape = Shape {
    name: "Dimensions",
    fields: &[
        record("provider", &CONCENTRATION).says("By provider, or its group."),
        record("sector", &CONCENTRATION).says("By the provider's sector."),
        record("regional", &CONCENTRATION).says("By region of processing."),
        record("technology", &CONCENTRATION).says("By technology."),
    ],
};

static CONCENTRATION: Shape = Shape {
    name: "Concentration",
    fields: &[
        whole("threshold_pct").says("The largest share that is borne.").such_as("30"),
        whole("hhi").says("The Herfindahl-Hirschman index, 0 to 10000.").such_as("2314"),
        percent("top_share_pct").says("The largest share.").such_as("43.8"),
        flag("breached").says("Whether that is over the threshold."),
        percent("unknown_pct")
            .says("Arrangements that lack what this dimension is computed from.")
            .such_as("0.0"),
        list("shares", &Is::Record(&SHARE)).says("The shares, largest first."),
    ],
};

static SHARE: Shape = Shape {
    name: "Share",
    fields: &[
        text("name").such_as(r#""Nordlicht Cloud GmbH""#),
        percent("share_pct").such_as("43.8"),
        whole("arrangements").such_as("7"),
        whole("critical_arrangements"),
    ],
};

static SINGLE_POINT: Shape = Shape {
    name: "SinglePoint",
    fields: &[
        text("function").nullable().says("The business function; null where the arrangement names none."),
        text("provider").such_as(r#""Nordlicht Cloud GmbH""#),
        list("services", &Is::Text),
        word("substitutability", Substitutability::NAMES).nullable().says("The worst of its arrangements."),
        flag("exit_plan").says("Whether each of them has an exit plan."),
        list("arrangement_ids", &Is::Text),
    ],
};

/// One dimension of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Concentration {
    pub threshold_pct: i64,
    /// The Herfindahl-Hirschman index: the sum of the squared shares.
    pub hhi: i64,
    #[serde(serialize_with = "one_decimal")]
    pub top_share_pct: f64,
    pub breached: bool,
    /// Arrangements that lack what this dimension is computed from.
    #[serde(serialize_with = "one_decimal")]
    pub unknown_pct: f64,
    pub shares: Vec<Share>,
}

/// What one value of a dimension has of the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Share {
    pub name: String,
    #[serde(serialize_with = "one_decimal")]
    pub share_pct: f64,
    pub arrangements: usize,
    pub critical_arrangements: usize,
}

/// A critical function that hangs on one provider who is not easily replaced. An
/// arrangement that names no function stands for itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct SinglePoint {
    pub function: Option<String>,
    pub provider: String,
    pub services: Vec<String>,
    /// The worst of its arrangements; null if nobody has looked.
    pub substitutability: Option<Substitutability>,
    /// Whether each of them has an exit plan.
    pub exit_plan: bool,
    pub arrangement_ids: Vec<String>,
}

/// A share as it is stored with its analysis: unrounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct ExactShare {
    pub dimension: Dimension,
    pub name: String,
    pub share_pct: f64,
}

/// An arrangement with its provider and what it weighs; no weight is known where its cost is not.
struct Item<'a> {
    arrangement: &'a Arrangement,
    provider: Option<&'a Provider>,
    weight: Option<u128>,
}

/// Analyses a register. It cannot be done without arrangements, nor by spend without costs.
pub fn analyse(
    register: &Register,
    thresholds: &Thresholds,
    basis: Basis,
    now_ms: i64,
) -> Result<Analysis, Faults> {
    let items = weigh(register, basis);
    if items.is_empty() {
        return Err(Faults { summary: EMPTY.into(), ..Faults::default() });
    }
    let total: u128 = items.iter().filter_map(|item| item.weight).sum();
    if total == 0 {
        return Err(Faults::one("basis", NO_COSTS));
    }
    let dimensions: BTreeMap<Dimension, Concentration> = Dimension::ALL
        .into_iter()
        .map(|dimension| (dimension, concentration(&items, dimension, thresholds.pct(dimension), total)))
        .collect();
    let of_all = |fits: &dyn Fn(&Item) -> bool| {
        pct(items.iter().filter(|item| fits(item)).count() as u128, items.len() as u128)
    };
    let providers: HashSet<&str> = items.iter().map(|item| item.arrangement.provider_id.as_str()).collect();
    let review_days = i32::try_from(thresholds.review_frequency_days).unwrap_or(i32::MAX);
    let mut analysis = Analysis {
        id: None,
        basis,
        analysed_at: now_ms,
        next_review_on: Day::of_ms(now_ms).plus_days(review_days),
        arrangement_count: items.len(),
        provider_count: providers.len(),
        breach_count: 0,
        unknown_pct: of_all(&|item| item.has_gap()),
        without_exit_plan_pct: of_all(&|item| item.arrangement.exit_plan != Some(true)),
        single_points_of_failure: single_points(&items),
        dimensions,
    };
    analysis.breach_count = breaches(&analysis.exact_shares(), thresholds, None).len();
    Ok(analysis)
}

const EMPTY: &str = "there is no arrangement to analyse: fill the register with POST \
    /api/v1/concentration-risk/providers and POST /api/v1/concentration-risk/arrangements, or with `holdfast import`";
const NO_COSTS: &str = "spend needs costs, and no arrangement has an annual_cost_eur above 0; \
    add costs, or analyse by criticality or count";

impl Analysis {
    /// All shares, unrounded, as they are stored.
    pub fn exact_shares(&self) -> Vec<ExactShare> {
        let of = |dimension: Dimension, share: &Share| ExactShare {
            dimension,
            name: share.name.clone(),
            share_pct: share.share_pct,
        };
        self.dimensions
            .iter()
            .flat_map(|(dimension, found)| found.shares.iter().map(move |share| of(*dimension, share)))
            .collect()
    }
}

impl Item<'_> {
    /// What it has in a dimension, if that is known.
    fn value(&self, dimension: Dimension) -> Option<&str> {
        let value = match dimension {
            Dimension::Provider => self.provider.map(Provider::group),
            Dimension::Sector => self.provider.and_then(|provider| provider.sector.as_deref()),
            Dimension::Regional => self.arrangement.region.as_deref(),
            Dimension::Technology => self.arrangement.technology.as_deref(),
        };
        value.map(str::trim).filter(|value| !value.is_empty() && !value.eq_ignore_ascii_case(UNKNOWN))
    }

    fn lacks(&self, dimension: Dimension) -> bool {
        self.weight.is_none() || self.value(dimension).is_none()
    }

    fn has_gap(&self) -> bool {
        let arrangement = self.arrangement;
        let unjudged = arrangement.substitutability.is_none() || arrangement.exit_plan.is_none();
        unjudged || Dimension::ALL.into_iter().any(|dimension| self.lacks(dimension))
    }
}

fn weigh(register: &Register, basis: Basis) -> Vec<Item<'_>> {
    let providers: HashMap<&str, &Provider> =
        register.providers.iter().map(|provider| (provider.id.as_str(), provider)).collect();
    let weight = |arrangement: &Arrangement| match basis {
        Basis::Criticality => Some(arrangement.criticality.weight()),
        Basis::Spend => arrangement.annual_cost_eur.map(|euros| (euros * UNITS_PER_EURO).round() as u128),
        Basis::Count => Some(1),
    };
    let item = |arrangement| Item {
        arrangement,
        provider: providers.get(arrangement.provider_id.as_str()).copied(),
        weight: weight(arrangement),
    };
    register.arrangements.iter().map(item).collect()
}

#[derive(Default)]
struct Tally {
    weight: u128,
    arrangements: usize,
    critical: usize,
}

fn concentration(items: &[Item], dimension: Dimension, threshold_pct: i64, total: u128) -> Concentration {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for item in items {
        let tally = tallies.entry(item.value(dimension).unwrap_or(UNKNOWN)).or_default();
        tally.weight += item.weight.unwrap_or(0);
        tally.arrangements += 1;
        tally.critical += usize::from(item.arrangement.is_critical());
    }
    let mut tallies: Vec<(&str, Tally)> = tallies.into_iter().collect();
    // They come by name and the sort keeps that order among equals.
    tallies.sort_by_key(|(_, tally)| Reverse(tally.weight));
    let shares: Vec<Share> = tallies
        .into_iter()
        .map(|(name, tally)| Share {
            name: name.to_owned(),
            share_pct: pct(tally.weight, total),
            arrangements: tally.arrangements,
            critical_arrangements: tally.critical,
        })
        .collect();
    let top_share_pct = shares.first().map_or(0.0, |share| share.share_pct);
    let lacking = items.iter().filter(|item| item.lacks(dimension)).count();
    Concentration {
        threshold_pct,
        hhi: shares.iter().map(|share| share.share_pct * share.share_pct).sum::<f64>().round() as i64,
        top_share_pct,
        breached: top_share_pct > threshold_pct as f64,
        unknown_pct: pct(lacking as u128, items.len() as u128),
        shares,
    }
}

/// A part of a whole in percent. A whole number of percent comes out exactly.
fn pct(part: u128, whole: u128) -> f64 {
    let hundredfold = part * 100;
    (hundredfold / whole) as f64 + (hundredfold % whole) as f64 / whole as f64
}

/// Critical functions, each with all its critical arrangements, that have one provider and cannot easily leave.
fn single_points(items: &[Item]) -> Vec<SinglePoint> {
    let mut functions: BTreeMap<(Option<&str>, &str), Vec<&Item>> = BTreeMap::new();
    for item in items.iter().filter(|item| item.arrangement.is_critical()) {
        let function = item.arrangement.function.as_deref().map(str::trim).filter(|name| !name.is_empty());
        // Without a function, the id keeps an arrangement apart from all others.
        let alone = if function.is_some() { "" } else { item.arrangement.id.as_str() };
        functions.entry((function, alone)).or_default().push(item);
    }
    let mut points: Vec<SinglePoint> =
        functions.into_iter().filter_map(|((function, _), items)| single_point(function, &items)).collect();
    // By name from the map; those that only stand for themselves come last.
    points.sort_by_key(|point| point.function.is_none());
    points
}

fn single_point(function: Option<&str>, items: &[&Item]) -> Option<SinglePoint> {
    let group = |item: &Item| item.value(Dimension::Provider).unwrap_or(UNKNOWN).to_owned();
    let provider = group(items.first()?);
    let one_provider = items.iter().all(|item| group(item) == provider);
    if !one_provider || items.iter().all(|item| item.arrangement.is_easy_to_replace()) {
        return None;
    }
    let arrangements = || items.iter().map(|item| item.arrangement);
    Some(SinglePoint {
        function: function.map(str::to_owned),
        provider,
        services: arrangements().map(|arrangement| arrangement.service.clone()).collect(),
        substitutability: arrangements()
            .filter(|arrangement| !arrangement.is_easy_to_replace())
            .filter_map(|arrangement| arrangement.substitutability)
            .max(),
        exit_plan: arrangements().all(|arrangement| arrangement.exit_plan == Some(true)),
        arrangement_ids: arrangements().map(|arrangement| arrangement.id.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::arrangement::{Criticality, NEW_ARRANGEMENT};
    use super::super::provider::NEW_PROVIDER;
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json};

    const NOW: i64 = 1_794_729_600_000;

    fn provider(id: usize, body: Value) -> Provider {
        let values = NEW_PROVIDER.check(body.as_object().unwrap()).unwrap();
        Provider::new(format!("prv_{id}"), &values, NOW)
    }

    fn arrangement(id: usize, body: Value) -> Arrangement {
        let values = NEW_ARRANGEMENT.check(body.as_object().unwrap()).unwrap();
        Arrangement::new(format!("arr_{id}"), &values, NOW)
    }

    fn register(providers: Vec<Value>, arrangements: Vec<Value>) -> Register {
        let numbered = |items: Vec<Value>| items.into_iter().enumerate();
        Register {
            providers: numbered(providers).map(|(id, body)| provider(id, body)).collect(),
            arrangements: numbered(arrangements).map(|(id, body)| arrangement(id, body)).collect(),
        }
    }

    fn analysed(register: &Register, basis: Basis) -> Value {
        json!(analyse(register, &Thresholds::default(), basis, NOW).unwrap())
    }

    #[test]
    fn a_small_register_by_hand() {
        let register = register(
            vec![
                json!({ "name": "Nimbus", "parent": "Cumulus Group", "sector": "cloud" }),
                json!({ "name": "Cumulus Group", "sector": "cloud" }),
                json!({ "name": "Quill" }),
            ],
            vec![
                json!({ "provider_id": "prv_0", "service": "a", "criticality": "critical", "region": "eu-central",
                    "function": "payments", "substitutability": "impossible", "exit_plan": true, "technology": "k8s" }),
                json!({ "provider_id": "prv_1", "service": "b", "criticality": "important", "region": " eu-central ",
                    "substitutability": "easy", "exit_plan": false, "technology": "Unknown" }),
                json!({ "provider_id": "prv_2", "service": "c", "criticality": "critical", "substitutability": "easy",
                    "exit_plan": true }),
                json!({ "provider_id": "prv_2", "service": "d", "criticality": "standard" }),
                json!({ "provider_id": "prv_2", "service": "e", "criticality": "standard" }),
                json!({ "provider_id": "prv_2", "service": "f", "criticality": "critical" }),
            ],
        );
        let shown = analysed(&register, Basis::Criticality);
        let dimensions = &shown["dimensions"];
        assert_eq!(
            dimensions["provider"],
            json!({
                "threshold_pct": 30, "hhi": 5200, "top_share_pct": 60.0, "breached": true, "unknown_pct": 0.0,
                "shares": [
                    { "name": "Quill", "share_pct": 60.0, "arrangements": 4, "critical_arrangements": 2 },
                    { "name": "Cumulus Group", "share_pct": 40.0, "arrangements": 2, "critical_arrangements": 1 },
                ],
            })
        );
        assert_eq!(dimensions["sector"]["breached"], true);
        assert_eq!(dimensions["sector"]["shares"][0]["name"], "unknown");
        assert_eq!(dimensions["sector"]["unknown_pct"], 66.7);
        assert_eq!(dimensions["technology"]["shares"][1]["name"], "k8s");
        assert_eq!(dimensions["technology"]["unknown_pct"], 83.3);
        assert_eq!((&shown["arrangement_count"], &shown["provider_count"]), (&json!(6), &json!(3)));
        assert_eq!((&shown["breach_count"], &shown["unknown_pct"]), (&json!(5), &json!(83.3)));
        assert_eq!(shown["without_exit_plan_pct"], 66.7);
        assert_eq!(shown["next_review_on"], "2027-11-15");
        assert_eq!(
            shown["single_points_of_failure"],
            json!([
                { "function": "payments", "provider": "Cumulus Group", "services": ["a"],
                  "substitutability": "impossible", "exit_plan": true, "arrangement_ids": ["arr_0"] },
                { "function": null, "provider": "Quill", "services": ["f"], "substitutability": null,
                  "exit_plan": false, "arrangement_ids": ["arr_5"] },
            ])
        );
    }

    #[test]
    fn a_function_with_two_providers_is_no_single_point_unless_they_are_one_group() {
        let two = |parent: Value| {
            let arrangement = |provider: &str| {
                json!({ "provider_id": provider, "service": "s", "criticality": "critical", "function": "payments",
                    "substitutability": "difficult" })
            };
            let register = register(
                vec![json!({ "name": "A", "parent": parent }), json!({ "name": "B", "parent": parent })],
                vec![arrangement("prv_0"), arrangement("prv_1")],
            );
            analysed(&register, Basis::Count)["single_points_of_failure"].as_array().unwrap().len()
        };
        assert_eq!((two(Value::Null), two(json!("Group"))), (0, 1));
    }

    #[test]
    fn money_adds_up_exactly_and_a_share_equal_to_its_threshold_is_no_breach() {
        let cost = |provider: &str, cost: Value| json!({ "provider_id": provider, "service": "s", "criticality": "standard", "annual_cost_eur": cost });
        let register = register(
            vec![
                json!({ "name": "A" }),
                json!({ "name": "B" }),
                json!({ "name": "C" }),
                json!({ "name": "D" }),
            ],
            vec![
                cost("prv_0", json!(0.1)),
                cost("prv_0", json!(0.2)),
                cost("prv_1", json!(0.3)),
                cost("prv_2", json!(0.4)),
                cost("prv_3", Value::Null),
            ],
        );
        let shown = analysed(&register, Basis::Spend);
        let found = &shown["dimensions"]["provider"];
        let names: Vec<&Value> =
            found["shares"].as_array().unwrap().iter().map(|share| &share["name"]).collect();
        assert_eq!(names, ["C", "A", "B", "D"]);
        assert_eq!(found["shares"][3]["share_pct"], 0.0, "what has no cost is there all the same");
        assert_eq!(found["unknown_pct"], 20.0, "and is counted as unknown");
        let exact = analyse(&register, &Thresholds::default(), Basis::Spend, NOW).unwrap().exact_shares();
        let over = breaches(&exact, &Thresholds::default(), None);
        let over: Vec<&str> = over
            .iter()
            .filter(|breach| breach.dimension == Dimension::Provider)
            .map(|breach| breach.name.as_str())
            .collect();
        assert_eq!(over, ["C"]);
    }

    #[test]
    fn what_cannot_be_analysed_says_what_to_do() {
        let thresholds = Thresholds::default();
        let fault =
            |register: &Register, basis| analyse(register, &thresholds, basis, NOW).unwrap_err().to_string();
        let empty = fault(&register(vec![json!({ "name": "A" })], vec![]), Basis::Count);
        assert!(
            empty.contains("POST /api/v1/concentration-risk/arrangements")
                && empty.contains("holdfast import")
        );
        let free = json!({ "provider_id": "prv_0", "service": "s", "criticality": "standard", "annual_cost_eur": 0 });
        let costless = fault(&register(vec![json!({ "name": "A" })], vec![free]), Basis::Spend);
        assert!(costless.contains("annual_cost_eur"), "{costless}");
    }

    fn word(of: &'static [&'static str]) -> impl Strategy<Value = Value> {
        prop_oneof![1 => Just(Value::Null), 3 => select(of).prop_map(|word| json!(word))]
    }

    fn a_provider() -> impl Strategy<Value = Value> {
        let name = select(&["Ada", "Bolt", "Core", "Dune", "unknown"][..]);
        (name, word(&["Bolt", "Group", "Zeta", " "]), word(&["cloud", "telecom", "data"]))
            .prop_map(|(name, parent, sector)| json!({ "name": name, "parent": parent, "sector": sector }))
    }

    fn an_arrangement() -> impl Strategy<Value = Value> {
        let cost = prop_oneof![1 => Just(Value::Null), 4 => (0..500_000_u32).prop_map(|cents| json!(f64::from(cents) / 100.0))];
        let criticality = select(Criticality::NAMES);
        (
            0..4_usize,
            criticality,
            word(&["eu", "us", "UNKNOWN"]),
            word(&["k8s", "mainframe", "sap", ""]),
            cost,
        )
            .prop_map(|(provider, criticality, region, technology, cost)| {
                json!({ "provider_id": format!("prv_{provider}"), "service": "s", "criticality": criticality,
                    "region": region, "technology": technology, "annual_cost_eur": cost })
            })
    }

    fn known(text: Option<&String>) -> Option<String> {
        let text = text?.trim().to_owned();
        if text.is_empty() || text.to_lowercase() == "unknown" { None } else { Some(text) }
    }

    /// The same figures once more, without haste: names first, then a walk over all arrangements for each of them.
    fn naive_value(register: &Register, arrangement: &Arrangement, dimension: Dimension) -> Option<String> {
        let provider = register.providers.iter().find(|provider| provider.id == arrangement.provider_id)?;
        match dimension {
            Dimension::Provider => known(provider.parent.as_ref().filter(|parent| *parent != " "))
                .or_else(|| known(Some(&provider.name))),
            Dimension::Sector => known(provider.sector.as_ref()),
            Dimension::Regional => known(arrangement.region.as_ref()),
            Dimension::Technology => known(arrangement.technology.as_ref()),
        }
    }

    fn naive_weight(arrangement: &Arrangement, basis: Basis) -> i64 {
        match (basis, arrangement.criticality.name()) {
            (Basis::Count, _) | (Basis::Criticality, "standard") => 1,
            (Basis::Criticality, "important") => 3,
            (Basis::Criticality, _) => 5,
            (Basis::Spend, _) => (arrangement.annual_cost_eur.unwrap_or(0.0) * 100.0).round() as i64,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_500))]
        #[test]
        fn an_independent_computation_finds_the_same(
            providers in proptest::collection::vec(a_provider(), 4),
            arrangements in proptest::collection::vec(an_arrangement(), 1..25),
            basis in select(Basis::NAMES),
        ) {
            let basis = Basis::parse(basis).unwrap();
            let register = register(providers, arrangements);
            let all = &register.arrangements;
            let total: i64 = all.iter().map(|each| naive_weight(each, basis)).sum();
            let outcome = analyse(&register, &Thresholds::default(), basis, NOW);
            prop_assert_eq!(outcome.is_err(), total == 0);
            let Ok(analysis) = outcome else { return Ok(()) };
            let mut breach_count = 0;
            for (dimension, found) in &analysis.dimensions {
                let value = |each: &Arrangement| {
                    naive_value(&register, each, *dimension).unwrap_or_else(|| "unknown".into())
                };
                let mut names: Vec<String> = all.iter().map(value).collect();
                names.sort();
                names.dedup();
                let mut expected: Vec<(i64, String)> = names
                    .into_iter()
                    .map(|name| {
                        let weight: i64 =
                            all.iter().filter(|each| value(each) == name).map(|each| naive_weight(each, basis)).sum();
                        (-weight, name)
                    })
                    .collect();
                expected.sort();
                let shown: Vec<&String> = found.shares.iter().map(|share| &share.name).collect();
                prop_assert_eq!(shown, expected.iter().map(|(_, name)| name).collect::<Vec<_>>());
                let mut hhi = 0.0;
                for (share, (weight, name)) in found.shares.iter().zip(&expected) {
                    let exact = -weight as f64 / total as f64;
                    prop_assert!((share.share_pct / 100.0 - exact).abs() < 1e-12);
                    hhi += exact * exact * 10_000.0;
                    let threshold = Thresholds::default().pct(*dimension);
                    breach_count += usize::from(-weight * 100 > threshold * total);
                    let mine: Vec<&Arrangement> = all.iter().filter(|each| value(each) == *name).collect();
                    prop_assert_eq!(share.arrangements, mine.len());
                    let critical = mine.iter().filter(|each| each.criticality == Criticality::Critical).count();
                    prop_assert_eq!(share.critical_arrangements, critical);
                }
                let sum: f64 = found.shares.iter().map(|share| share.share_pct).sum();
                prop_assert!((sum - 100.0).abs() < 1e-9, "{}", sum);
                prop_assert!((found.hhi as f64 - hhi).abs() <= 0.500_001, "{} {}", found.hhi, hhi);
                prop_assert!((1..=10_000).contains(&found.hhi));
                prop_assert_eq!(found.top_share_pct, found.shares[0].share_pct);
                let top_is_over = -expected[0].0 * 100 > found.threshold_pct * total;
                prop_assert_eq!(found.breached, top_is_over);
                let lacking = all
                    .iter()
                    .filter(|each| {
                        naive_value(&register, each, *dimension).is_none()
                            || basis == Basis::Spend && each.annual_cost_eur.is_none()
                    })
                    .count();
                prop_assert!((found.unknown_pct - 100.0 * lacking as f64 / all.len() as f64).abs() < 1e-9);
            }
            prop_assert_eq!(analysis.breach_count, breach_count);
            prop_assert_eq!(analysis.arrangement_count, all.len());
        }
    }
}
