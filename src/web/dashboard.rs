//! The dashboard: clocks that run, scores, open findings by age, work ahead, alerts, risks, concentration.

use super::concentration::named;
use super::finding::PATH as FINDINGS;
use super::frame::{Frame, is_open};
use super::part::{Cell, badge};
use super::picture::{Bar, Clock};
use super::words::Words;
use super::{asset, fault, render};
use crate::domain::alert::{Alert, Work};
use crate::domain::cra::CraReport;
use crate::domain::day::Day;
use crate::domain::finding::Severity;
use crate::domain::query::{LIMIT, Param, Query, filter};
use crate::domain::risk::Dimension;
use crate::error::Error;
use crate::health;
use crate::http::{Answer, Reply, Visit};
use crate::reference::compliance::overview;
use crate::reference::source::words::Level;
use crate::store::{Ages, Ahead};
use askama::Template;
use serde_json::Value;

/// So many clocks, deadlines and alerts are shown.
const CLOCKS_MAX: usize = 6;
const ROWS_MAX: u32 = 7;
static SHORT: &[Param] = &[LIMIT];
static COMING: &[Param] = &[LIMIT, filter("status", &["imminent"], "Coming.")];

/// The clock of a report: the clock, what it is about, and where that is.
struct Running {
    clock: Clock,
    due: Cell,
    about: Cell,
}

struct Score {
    name: String,
    word: String,
    pct: String,
    bar: Bar,
    parts: String,
    own: String,
}

struct AgeRow {
    severity: Cell,
    bar: Bar,
    counts: [u64; 4],
    total: Cell,
    overdue: Cell,
}

struct Line {
    what: Cell,
    end: Cell,
}

/// A cell of the matrix: how many risks, and how bad that is.
struct Spot {
    class: &'static str,
    letter: &'static str,
    count: usize,
    label: String,
}

/// A row of the matrix: its name and its cells.
type MatrixRow = (String, Vec<Spot>);

struct Share {
    dimension: String,
    name: String,
    pct: String,
    bar: Bar,
    says: String,
    state: &'static str,
    pill: &'static str,
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Dashboard {
    frame: Frame,
    lead: String,
    clocks: Vec<Running>,
    scores: Vec<Score>,
    score_lead: String,
    ages: Vec<AgeRow>,
    open: u64,
    ahead: Vec<Line>,
    alerts: Vec<Line>,
    alert_count: String,
    columns: Vec<String>,
    matrix: Vec<MatrixRow>,
    risk_lead: String,
    shares: Vec<Share>,
}

/// `GET /`
pub fn page(visit: &Visit) -> Answer {
    Ok(Reply::html(made(visit)?))
}

fn made(visit: &Visit) -> Result<String, Error> {
    let (words, tenant, now_ms) = (Words::of(visit), visit.tenant()?, visit.app.clock.now_ms());
    let running = tenant.running_cra_reports()?;
    let ages = tenant.finding_ages()?;
    let query = Query::check(&format!("limit={ROWS_MAX}"), SHORT).map_err(Error::Invalid)?;
    let alerts = tenant.alerts(&query, &visit.app.config.leads, health::alerts(visit.app))?;
    let overdue: u64 = ages.iter().map(|each| each.overdue).sum();
    let open: u64 = ages.iter().flat_map(|each| each.counts).sum();
    let lead = [
        words.count(
            "dashboard.clocks_run",
            running.iter().filter(|each| each.next_deadline().is_some()).count() as u64,
        ),
        words.count("dashboard.overdue", overdue),
    ];
    let (score_lead, scores) = scores(visit)?;
    let (columns, matrix, risk_lead) = matrix(visit);
    render(&Dashboard {
        frame: Frame::of(visit, "/")?,
        lead: lead.join(" "),
        clocks: running.iter().filter_map(|report| clock(visit, report, now_ms)).take(CLOCKS_MAX).collect(),
        scores,
        score_lead,
        ages: age_rows(words, &ages),
        open,
        ahead: ahead(visit)?,
        alerts: alerts.items.iter().map(|alert| alert_line(visit, alert)).collect(),
        alert_count: words.count("dashboard.alert_count", alerts.total),
        columns,
        matrix,
        risk_lead,
        shares: shares(visit)?,
    })
}

fn clock(visit: &Visit, report: &CraReport, now_ms: i64) -> Option<Running> {
    let (stage, due_at) = report.next_deadline()?;
    let title = format!("{}, {}", report.title, report.product_name);
    Some(Running {
        clock: Clock::of(Words::of(visit), report, stage, now_ms),
        due: Cell::moment(Words::of(visit), due_at),
        about: linked(visit, "/cra-reports", &report.id, title),
    })
}

/// A link to an object, where there are pages of it.
fn linked(visit: &Visit, pages: &str, id: &str, text: String) -> Cell {
    match is_open(visit, pages) {
        true => Cell::link(format!("{pages}/{id}"), text),
        false => Cell::text(text),
    }
}

fn scores(visit: &Visit) -> Result<(String, Vec<Score>), Error> {
    let (words, told) = (Words::of(visit), overview(&visit.app.reference.catalogue));
    let mut scores = Vec::new();
    for each in told["frameworks"].as_array().into_iter().flatten() {
        let name = words.word(each["framework"].as_str().unwrap_or_default());
        let number = |field: &str| each[field].as_u64().unwrap_or(0);
        let all = number("requirements").max(1) as f64;
        let part = |field: &str| number(field) as f64 / all * 100.0;
        let shown = ["implemented", "partial", "planned", "missing"].map(|field| number(field).to_string());
        let parts = words.say(
            "dashboard.parts",
            &[("a", shown[0].as_str()), ("b", &shown[1]), ("c", &shown[2]), ("d", &shown[3])],
        );
        let own = visit.tenant()?.figures_of(each["framework"].as_str().unwrap_or_default())?;
        let figures =
            [own.test_cases, own.passed, own.failed, own.open_findings].map(|each| each.to_string());
        let own_text = words.say(
            "dashboard.own",
            &[("a", figures[0].as_str()), ("b", &figures[1]), ("c", &figures[2]), ("d", &figures[3])],
        );
        scores.push(Score {
            word: words.word(each["status"].as_str().unwrap_or_default()),
            pct: words.decimal(each["score_pct"].as_f64().unwrap_or(0.0)),
            bar: Bar::new(
                format!("{name}: {parts}"),
                &[("c-1", part("implemented")), ("c-2", part("partial")), ("c-3", part("planned"))],
            ),
            parts,
            own: if own.programmes > 0 { own_text } else { String::new() },
            name,
        });
    }
    let pct = words.decimal(told["score_pct"].as_f64().unwrap_or(0.0));
    Ok((words.say("dashboard.score_lead", &[("pct", &pct)]), scores))
}

fn age_rows(words: Words, ages: &[Ages]) -> Vec<AgeRow> {
    let none = |severity| Ages { severity, counts: [0; 4], overdue: 0 };
    let each = Severity::NAMES.iter().filter_map(|name| Severity::parse(name)).map(|severity| {
        ages.iter().find(|ages| ages.severity == severity).cloned().unwrap_or_else(|| none(severity))
    });
    let all: Vec<Ages> = each.collect();
    let most = all.iter().map(|each| each.counts.iter().sum::<u64>()).max().unwrap_or(0).max(1) as f64;
    let row = |ages: &Ages| {
        let name = ages.severity.name();
        let counts = ages.counts.map(|count| count.to_string());
        let label = words.say(
            "dashboard.age_label",
            &[
                ("severity", words.word(name).as_str()),
                ("a", &counts[0]),
                ("b", &counts[1]),
                ("c", &counts[2]),
                ("d", &counts[3]),
            ],
        );
        let wide = ages.counts.map(|count| count as f64 / most * 100.0);
        let link = |more: &str, count: u64| match count {
            0 => Cell { class: "faint", ..Cell::text("0") },
            _ => Cell::link(format!("{FINDINGS}?severity={name}{more}"), words.number(count)),
        };
        AgeRow {
            severity: badge(words, name),
            bar: Bar::new(label, &[("c-3", wide[0]), ("c-2", wide[1]), ("c-1", wide[2]), ("c-4", wide[3])]),
            counts: ages.counts,
            total: link("", ages.counts.iter().sum()),
            overdue: link("&overdue=true", ages.overdue),
        }
    };
    all.iter().map(row).collect()
}

fn ahead(visit: &Visit) -> Result<Vec<Line>, Error> {
    let (words, today) = (Words::of(visit), Day::of_ms(visit.app.clock.now_ms()));
    let line = |ahead: &Ahead| {
        let (pages, noun) = match ahead.work {
            Work::Finding => ("/findings", words.t("finding.title_one")),
            Work::TestCase => ("/test-cases", words.t("test_case.title_one")),
        };
        let who = ahead.who.as_ref().map(|who| format!("{noun}, {who}")).unwrap_or_else(|| noun.to_owned());
        let what = linked(visit, pages, &ahead.id, ahead.title.clone()).below(who);
        (ahead.due_on, Line { what, end: Cell::due(words, Some(ahead.due_on), today) })
    };
    let mut lines: Vec<(Day, Line)> = visit.tenant()?.work_ahead(ROWS_MAX)?.iter().map(line).collect();
    let query = Query::check("limit=3&status=imminent", COMING).map_err(Error::Invalid)?;
    for shown in visit.app.store.milestones(&query)?.items {
        let what = Cell::text(&shown.milestone.title).of_the_library().below(words.t("nav.timeline"));
        let end = Cell::due(words, Some(shown.milestone.date), today);
        lines.push((shown.milestone.date, Line { what, end }));
    }
    lines.sort_by_key(|(day, _)| *day);
    Ok(lines.into_iter().map(|(_, line)| line).collect())
}

fn alert_line(visit: &Visit, alert: &Alert) -> Line {
    let words = Words::of(visit);
    // The titles of work are people's own; the others are ours.
    let title = match alert.source.r#type {
        "finding" | "test_case" | "cra_report" => alert.title.clone(),
        _ => fault::said(words, &alert.title),
    };
    let pages = match alert.source.r#type {
        "finding" => "/findings",
        "test_case" => "/test-cases",
        "cra_report" => "/cra-reports",
        "webhook" => "/webhooks",
        _ => "",
    };
    let what = match alert.source.r#type {
        "concentration" | "analysis" if is_open(visit, "/concentration") => {
            Cell::link("/concentration", title)
        }
        _ => linked(visit, pages, &alert.source.id, title),
    };
    Line { what: what.below(fault::said(words, &alert.message)), end: badge(words, alert.severity.name()) }
}

/// The heads of the columns, the rows from the likeliest down, and the totals in words.
fn scale(words: Words, value: u8, label: &str) -> String {
    let said = words.find(&format!("scale.{}", label.replace(' ', "_")));
    format!("{value} {}", said.unwrap_or(label))
}

fn matrix(visit: &Visit) -> (Vec<String>, Vec<MatrixRow>, String) {
    let (words, risks) = (Words::of(visit), &visit.app.reference.catalogue.risks);
    let scales = &risks.extra.scales;
    let spot = |likelihood: u8, impact: u8| {
        let count =
            risks.data.iter().filter(|risk| (risk.likelihood, risk.impact) == (likelihood, impact)).count();
        let (class, letter, level) = match Level::of_score(likelihood.saturating_mul(impact)) {
            Level::Critical => ("m-c", "dashboard.letter.critical", "critical"),
            Level::High => ("m-h", "dashboard.letter.high", "high"),
            Level::Medium => ("m-m", "dashboard.letter.medium", "medium"),
            Level::Low => ("m-l", "dashboard.letter.low", "low"),
        };
        let label = format!("{}, {}", words.count("dashboard.risks", count as u64), words.word(level));
        Spot { class, letter: words.t(letter), count, label }
    };
    let rows = scales.likelihood.iter().rev().map(|step| {
        let cells = scales.impact.iter().map(|impact| spot(step.value, impact.value)).collect();
        (scale(words, step.value, &step.label), cells)
    });
    let columns = scales.impact.iter().map(|step| scale(words, step.value, &step.label)).collect();
    (columns, rows.collect(), words.count("dashboard.risks", risks.data.len() as u64))
}

fn shares(visit: &Visit) -> Result<Vec<Share>, Error> {
    let told = match visit.tenant()?.latest_analysis() {
        Ok(body) => serde_json::from_str::<Value>(&body)
            .map_err(|cause| Error::internal("reading an analysis", cause))?,
        Err(Error::NotFound(_)) => return Ok(Vec::new()),
        Err(other) => return Err(other),
    };
    let (words, thresholds) = (Words::of(visit), visit.tenant()?.thresholds()?);
    let share = |dimension: Dimension| {
        let of = &told["dimensions"][dimension.name()];
        let (name, pct) =
            (named(words, of["shares"][0]["name"].as_str()?), of["shares"][0]["share_pct"].as_f64()?);
        Some(shown_share(words, dimension, name, pct, thresholds.pct(dimension) as f64))
    };
    Ok(Dimension::ALL.into_iter().filter_map(share).collect())
}

fn shown_share(words: Words, dimension: Dimension, name: &str, pct: f64, limit: f64) -> Share {
    let (over, shown, shown_limit) = (pct > limit, words.decimal(pct), format!("{limit:.0}"));
    let far = words.decimal((pct - limit).abs());
    let parts = [("far", far.as_str()), ("limit", shown_limit.as_str())];
    let title = words.word(dimension.name());
    let says = if over { words.say("share.over", &parts) } else { words.say("share.below", &parts) };
    let (state, pill) = match over {
        true if pct >= 1.5 * limit => (words.t("share.high"), "pill pill-high"),
        true => (words.t("share.medium"), "pill pill-medium"),
        false => (words.t("share.within"), "pill pill-good"),
    };
    Share {
        bar: Bar::share(format!("{title}: {name}, {shown} %. {says}"), pct, limit),
        dimension: title,
        name: name.to_owned(),
        pct: shown,
        says,
        state,
        pill,
    }
}
