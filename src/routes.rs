//! The table: every route of every tier. It reads like section 4 of the specification.
//!
//! A row is all there is to a route: the router, the gate, the checks, the indexes,
//! the counters and the OpenAPI document are derived from it.

use crate::api::{index, metrics, openapi, ops, public as platform, v1 as api, v2 as api_v2};
use crate::domain::alert::ALERT;
use crate::domain::analysis::ANALYSIS;
use crate::domain::arrangement::{ARRANGEMENT, NEW_ARRANGEMENT};
use crate::domain::cra_form::{CRA_REPORT, CRA_REPORT_PATCH};
use crate::domain::delivery::DELIVERY;
use crate::domain::finding::{FINDING, FINDING_PATCH, NEW_FINDING};
use crate::domain::key::{CREATED_KEY, NEW_KEY};
use crate::domain::permission::Permission::{ManageKeys, Write};
use crate::domain::programme::PROGRAMME;
use crate::domain::provider::{NEW_PROVIDER, PROVIDER};
use crate::domain::risk::{ANALYZE, BREACH, THRESHOLD_PATCH, THRESHOLDS};
use crate::domain::scan::SCAN;
use crate::domain::search::HIT;
use crate::domain::test_case::{TEST_CASE, TEST_CASE_PATCH};
use crate::domain::timeline::{NOTHING, SHOWN_MILESTONE, SYNCED};
use crate::domain::webhook::{NEW_WEBHOOK, WEBHOOK, WEBHOOK_PATCH};
use crate::http::route::Gives::{All, Created, CreatedOrShown, Csv, Figures, List, Nothing};
use crate::http::route::Handler::{Beside, Filtered, Once, Platform, Service, Shared, Tenant, Whole};
use crate::http::route::Verb::{Delete, Get, Patch, Post, Put};
use crate::http::route::{Route, public, service, v1, v2};
use crate::reference::compliance::SCORE_BESIDE_OWN;
use crate::reference::compliance::{DETAIL, OVERVIEW};
use crate::reference::dataset::{
    EVIDENCE, GAP_ANALYSIS, INCIDENT_DRILLS, MEASURES, RADAR, RISK_REGISTER, TRAINING, VENDOR_QUESTIONS,
    VENDOR_SCORECARD, WIDGETS,
};

/// Every route.
pub static ROUTES: &[Route] = &[
    // Public reference data
    public("/api", Once(index::public)).shows(&index::INDEX).says("Index of the public reference endpoints."),
    public("/api/risk-register", Whole(&RISK_REGISTER))
        .says("ICT risk register: risks, categories and the risk matrix."),
    public("/api/vendor-scorecard", Whole(&VENDOR_SCORECARD))
        .says("Vendor scorecard: scores of invented vendors in five dimensions."),
    public("/api/incident-drills", Whole(&INCIDENT_DRILLS))
        .says("Incident drills with injects, tasks and success criteria."),
    public("/api/gap-analysis", Whole(&GAP_ANALYSIS))
        .says("Gap analysis of DORA, MaRisk, ISO 27001 and NIS2."),
    public("/api/measures", Whole(&MEASURES)).says("Catalogue of DORA measures."),
    public("/api/evidence", Whole(&EVIDENCE)).says("Catalogue of evidence and the measures it supports."),
    public("/api/radar", Whole(&RADAR)).says("Regulatory radar: signals from supervisory authorities."),
    public("/api/modules", Once(platform::modules))
        .shows(&platform::MODULES)
        .says("Modules of the platform and the availability of their routes."),
    public("/api/stats", Once(platform::stats)).shows(&platform::STATISTICS).says("Platform statistics."),
    public("/api/openapi.json", Once(openapi::document))
        .shows(&openapi::DOCUMENT)
        .extension()
        .says("The OpenAPI 3.1 description of this service."),
    // Operation
    service("/api/health", Service(ops::health)).shows(&ops::HEALTH).says("System health check."),
    service("/api/health-detailed", Service(ops::health_detailed))
        .shows(&ops::HEALTH_DETAILED)
        .says("Detailed health check."),
    service("/api/health/history", Service(ops::history)).shows(&ops::HISTORY).says("Health check history."),
    service("/api/healthz", Service(ops::healthz)).shows(&ops::ALIVE).says("Liveness probe."),
    service("/api/ping", Service(ops::ping)).shows(&ops::PONG).says("Uptime ping."),
    service("/api/auto-heal/status", Service(ops::auto_heal))
        .shows(&ops::AUTO_HEAL)
        .says("Auto-heal status."),
    service("/api/errors/500-rate", Service(ops::error_rate))
        .shows(&ops::ERROR_RATE)
        .says("Rate of 500 responses per route."),
    service("/api/cron/info", Service(ops::cron)).shows(&ops::CRON).says("Scheduled-job status."),
    service("/api/actions/disk-report", Service(ops::disk_report))
        .shows(&ops::DISK_REPORT)
        .says("Disk report."),
    service("/metrics", Service(metrics::figures))
        .gives(Figures)
        .extension()
        .says("Figures for Prometheus, if they are switched on."),
    // API v1: programmes, test cases, findings
    v1(Get, "/api/v1/programmes", Tenant(api::programme::list))
        .shows(&PROGRAMME)
        .asks(api::programme::PARAMS)
        .gives(List)
        .keeps()
        .says("Test programmes."),
    v1(Get, "/api/v1/programmes/{id}", Tenant(api::programme::show))
        .shows(&PROGRAMME)
        .keeps()
        .says("One test programme."),
    v1(Get, "/api/v1/test-cases", Tenant(api::test_case::list))
        .shows(&TEST_CASE)
        .asks(api::test_case::PARAMS)
        .gives(List)
        .keeps()
        .says("Test cases."),
    v1(Get, "/api/v1/test-cases/{id}", Tenant(api::test_case::show))
        .shows(&TEST_CASE)
        .keeps()
        .says("One test case."),
    v1(Patch, "/api/v1/test-cases/{id}", Tenant(api::test_case::change))
        .shows(&TEST_CASE)
        .needs(Write)
        .takes(&TEST_CASE_PATCH)
        .extension()
        .says("Change a test case, or move it."),
    v1(Get, "/api/v1/findings", Tenant(api::finding::list))
        .shows(&FINDING)
        .asks(api::finding::PARAMS)
        .gives(List)
        .keeps()
        .says("Open findings."),
    v1(Post, "/api/v1/findings", Tenant(api::finding::create))
        .shows(&FINDING)
        .needs(Write)
        .takes(&NEW_FINDING)
        .gives(Created)
        .once()
        .extension()
        .says("File a finding."),
    v1(Get, "/api/v1/findings/{id}", Tenant(api::finding::show)).shows(&FINDING).keeps().says("One finding."),
    v1(Patch, "/api/v1/findings/{id}", Tenant(api::finding::change))
        .shows(&FINDING)
        .needs(Write)
        .takes(&FINDING_PATCH)
        .extension()
        .says("Change a finding, or move it."),
    // API v1: compliance status
    v1(Get, "/api/v1/compliance-status", Once(api::compliance::all))
        .shows(&OVERVIEW)
        .says("Compliance status across frameworks."),
    v1(Get, "/api/v1/compliance-status/dora", Once(api::compliance::dora))
        .shows(&DETAIL)
        .says("Compliance status: DORA."),
    v1(Get, "/api/v1/compliance-status/marisk", Once(api::compliance::marisk))
        .shows(&DETAIL)
        .says("Compliance status: MaRisk."),
    v1(Get, "/api/v1/compliance-status/iso-27001", Once(api::compliance::iso_27001))
        .shows(&DETAIL)
        .says("Compliance status: ISO 27001."),
    v1(Get, "/api/v1/compliance-status/cra", Once(api::compliance::cra))
        .shows(&DETAIL)
        .says("Compliance status: Cyber Resilience Act."),
    // API v1: DORA measures and their exports
    v1(Get, "/api/v1/dora/measures", Shared(api::measure::list))
        .shows(MEASURES.shape)
        .asks(MEASURES.params)
        .gives(List)
        .says("DORA measures."),
    v1(Get, "/api/v1/dora/measures/{id}", Shared(api::measure::show))
        .shows(MEASURES.shape)
        .says("One DORA measure."),
    v1(Get, "/api/v1/exports/measures/csv", Once(api::measure::export_csv))
        .gives(Csv)
        .says("All target measures as CSV."),
    v1(Get, "/api/v1/exports/measures/json", Once(api::measure::export_json))
        .gives(All)
        .shows(MEASURES.shape)
        .says("All target measures as JSON."),
    // API v1: compliance timeline
    v1(Get, "/api/v1/compliance-timeline", Platform(api::timeline::list))
        .shows(&SHOWN_MILESTONE)
        .asks(api::timeline::PARAMS)
        .gives(List)
        .says("Compliance milestones."),
    v1(Post, "/api/v1/compliance-timeline/sync", Platform(api::timeline::sync))
        .shows(&SYNCED)
        .needs(Write)
        .takes(&NOTHING)
        .optional_body()
        .says("Synchronise the timeline."),
    // API v1: concentration risk
    v1(Post, "/api/v1/concentration-risk/analyze", Tenant(api::risk::analyze))
        .shows(&ANALYSIS)
        .needs(Write)
        .takes(&ANALYZE)
        .optional_body()
        .gives(CreatedOrShown)
        .says("Run an analysis."),
    v1(Get, "/api/v1/concentration-risk/latest", Tenant(api::risk::latest))
        .shows(&ANALYSIS)
        .keeps()
        .says("The latest analysis."),
    v1(Get, "/api/v1/concentration-risk/breaches", Tenant(api::risk::breaches))
        .shows(&BREACH)
        .meta(api::risk::BREACH_META)
        .asks(api::risk::BREACH_PARAMS)
        .gives(List)
        .keeps()
        .says("Threshold violations."),
    v1(Get, "/api/v1/concentration-risk/thresholds", Tenant(api::risk::thresholds))
        .shows(&THRESHOLDS)
        .keeps()
        .says("Threshold settings."),
    v1(Patch, "/api/v1/concentration-risk/thresholds", Tenant(api::risk::change_thresholds))
        .shows(&THRESHOLDS)
        .needs(Write)
        .takes(&THRESHOLD_PATCH)
        .says("Change threshold settings."),
    v1(Get, "/api/v1/concentration-risk/providers", Tenant(api::provider::list))
        .shows(&PROVIDER)
        .asks(api::provider::PARAMS)
        .gives(List)
        .keeps()
        .extension()
        .says("Providers in the register."),
    v1(Post, "/api/v1/concentration-risk/providers", Tenant(api::provider::create))
        .shows(&PROVIDER)
        .needs(Write)
        .takes(&NEW_PROVIDER)
        .gives(Created)
        .extension()
        .says("Enter a provider in the register."),
    v1(Get, "/api/v1/concentration-risk/providers/{id}", Tenant(api::provider::show))
        .shows(&PROVIDER)
        .keeps()
        .extension()
        .says("One provider."),
    v1(Delete, "/api/v1/concentration-risk/providers/{id}", Tenant(api::provider::delete))
        .needs(Write)
        .gives(Nothing)
        .extension()
        .says("Delete a provider without arrangements."),
    v1(Get, "/api/v1/concentration-risk/arrangements", Tenant(api::arrangement::list))
        .shows(&ARRANGEMENT)
        .asks(api::arrangement::PARAMS)
        .gives(List)
        .keeps()
        .extension()
        .says("Arrangements in the register."),
    v1(Post, "/api/v1/concentration-risk/arrangements", Tenant(api::arrangement::create))
        .shows(&ARRANGEMENT)
        .needs(Write)
        .takes(&NEW_ARRANGEMENT)
        .gives(Created)
        .extension()
        .says("Enter an arrangement in the register."),
    v1(Get, "/api/v1/concentration-risk/arrangements/{id}", Tenant(api::arrangement::show))
        .shows(&ARRANGEMENT)
        .keeps()
        .extension()
        .says("One arrangement."),
    v1(Delete, "/api/v1/concentration-risk/arrangements/{id}", Tenant(api::arrangement::delete))
        .needs(Write)
        .gives(Nothing)
        .extension()
        .says("Delete an arrangement."),
    // API v1: vulnerability scan, keys, webhooks, CRA reports
    v1(Get, "/api/v1/vulnerability-scan/latest", Platform(api::scan::latest))
        .asks(api::scan::PARAMS)
        .shows(&SCAN)
        .says("The latest vulnerability scan."),
    v1(Post, "/api/v1/keys", Tenant(api::key::create))
        .shows(&CREATED_KEY)
        .needs(ManageKeys)
        .takes(&NEW_KEY)
        .gives(Created)
        .says("Create an API key."),
    v1(Get, "/api/v1/webhooks", Tenant(api::webhook::list))
        .shows(&WEBHOOK)
        .asks(api::webhook::PARAMS)
        .gives(List)
        .says("Webhooks."),
    v1(Post, "/api/v1/webhooks", Tenant(api::webhook::create))
        .shows(&WEBHOOK)
        .needs(Write)
        .takes(&NEW_WEBHOOK)
        .gives(Created)
        .says("Create a webhook."),
    v1(Get, "/api/v1/webhooks/{webhook}", Tenant(api::webhook::show)).shows(&WEBHOOK).says("One webhook."),
    v1(Put, "/api/v1/webhooks/{webhook}", Tenant(api::webhook::change))
        .shows(&WEBHOOK)
        .needs(Write)
        .takes(&WEBHOOK_PATCH)
        .says("Change a webhook; absent fields keep their value."),
    v1(Patch, "/api/v1/webhooks/{webhook}", Tenant(api::webhook::change))
        .shows(&WEBHOOK)
        .needs(Write)
        .takes(&WEBHOOK_PATCH)
        .says("Change a webhook."),
    v1(Delete, "/api/v1/webhooks/{webhook}", Tenant(api::webhook::delete))
        .needs(Write)
        .gives(Nothing)
        .says("Delete a webhook."),
    v1(Post, "/api/v1/webhooks/{webhook}/test", Tenant(api::webhook::test))
        .shows(&DELIVERY)
        .needs(Write)
        .takes(&NOTHING)
        .optional_body()
        .gives(Created)
        .extension()
        .says("Send a test message."),
    v1(Get, "/api/v1/webhooks/{webhook}/deliveries", Tenant(api::webhook::deliveries))
        .shows(&DELIVERY)
        .asks(api::webhook::DELIVERY_PARAMS)
        .gives(List)
        .extension()
        .says("Deliveries of a webhook with every attempt, newest first."),
    v1(Post, "/api/v1/deliveries/{id}/replay", Tenant(api::webhook::replay))
        .shows(&DELIVERY)
        .needs(Write)
        .takes(&NOTHING)
        .optional_body()
        .gives(Created)
        .extension()
        .says("Send a delivery once more."),
    v1(Get, "/api/v1/cra/reports", Tenant(api::cra::list))
        .shows(&CRA_REPORT)
        .asks(api::cra::PARAMS)
        .gives(List)
        .extension()
        .says("CRA reports."),
    v1(Get, "/api/v1/cra/reports/{id}", Tenant(api::cra::show)).shows(&CRA_REPORT).says("One CRA report."),
    v1(Patch, "/api/v1/cra/reports/{id}", Tenant(api::cra::change))
        .shows(&CRA_REPORT)
        .needs(Write)
        .takes(&CRA_REPORT_PATCH)
        .says("Change a CRA report, or move it."),
    // API v2
    v2("/api/v2", Once(index::v2)).shows(&index::V2_INDEX).says("Index of API v2."),
    v2("/api/v2/risk-register", Filtered(&RISK_REGISTER)).says("ICT risk register."),
    v2("/api/v2/vendor-scorecard", Filtered(&VENDOR_SCORECARD)).says("Vendor scorecard."),
    v2("/api/v2/incident-drills", Filtered(&INCIDENT_DRILLS)).says("Incident drill scenarios."),
    v2("/api/v2/gap-analysis", Filtered(&GAP_ANALYSIS)).says("Framework gap analysis."),
    v2("/api/v2/compliance-timeline", Platform(api_v2::timeline::list))
        .shows(&SHOWN_MILESTONE)
        .asks(api_v2::timeline::PARAMS)
        .gives(List)
        .says("Compliance milestones."),
    v2("/api/v2/compliance-training", Filtered(&TRAINING)).says("Training modules."),
    v2("/api/v2/vendor-risk-assessment", Filtered(&VENDOR_QUESTIONS))
        .says("Vendor risk assessment questions."),
    v2("/api/v2/dashboard-widgets", Filtered(&WIDGETS)).says("Available dashboard widgets."),
    v2("/api/v2/alerts", Beside(api_v2::alert::list))
        .asks(api_v2::alert::PARAMS)
        .gives(List)
        .shows(&ALERT)
        .aside()
        .says("Active alerts."),
    v2("/api/v2/performance/overview", Platform(api_v2::performance::overview))
        .asks(api_v2::performance::PARAMS)
        .gives(List)
        .shows(&api_v2::performance::FIGURES)
        .says("Technical performance overview."),
    v2("/api/v2/compliance-scores", Beside(api_v2::score::list))
        .asks(api_v2::score::PARAMS)
        .gives(List)
        .shows(&SCORE_BESIDE_OWN)
        .aside()
        .says("Compliance scores."),
    v2("/api/v2/search", Beside(api_v2::search::list))
        .asks(api_v2::search::PARAMS)
        .gives(List)
        .shows(&HIT)
        .aside()
        .says("Cross-module search."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::route::{Handler, Tier};
    use std::collections::HashSet;

    #[test]
    fn no_route_stands_twice() {
        let mut seen = HashSet::new();
        for route in ROUTES {
            assert!(seen.insert(route.name()), "{} stands twice", route.name());
        }
    }

    #[test]
    fn a_path_begins_as_its_tier_says() {
        for route in ROUTES {
            let path = route.path;
            let fits = match route.tier {
                Tier::V1 => path.starts_with("/api/v1/"),
                Tier::V2 => path == "/api/v2" || path.starts_with("/api/v2/"),
                Tier::Public | Tier::Service => path.starts_with("/api") && !path.starts_with("/api/v"),
                Tier::Page | Tier::Workspace | Tier::Asset => false,
            };
            let exception = path == "/api/vendor-scorecard" || route.gives == Figures;
            assert!(fits || exception, "{path}");
        }
    }

    #[test]
    fn every_write_needs_a_permission_and_only_writes_take_a_body() {
        for route in ROUTES {
            assert_eq!(route.verb != Get, route.needs.is_some(), "{}", route.name());
            assert!(route.takes.is_some() || !route.optional_body, "{}", route.name());
            assert!(route.takes.is_none() || matches!(route.verb, Post | Put | Patch), "{}", route.name());
        }
    }

    #[test]
    fn every_route_says_one_sentence() {
        for route in ROUTES {
            assert!(route.says.ends_with('.') && !route.says.contains(". "), "{}", route.name());
        }
    }

    #[test]
    fn literal_segments_are_plain_kebab_case() {
        for route in ROUTES {
            for segment in route.path.split('/').skip(1).filter(|segment| !segment.starts_with('{')) {
                let plain = segment
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte));
                assert!(plain, "{}", route.path);
            }
        }
    }

    #[test]
    fn operational_code_stands_only_on_operational_routes() {
        for route in ROUTES {
            let operational = matches!(route.handler, Handler::Service(_));
            assert!(!operational || route.tier == Tier::Service, "{}", route.name());
            let platform = matches!(route.handler, Handler::Platform(_));
            assert!(!platform || route.tier.checks_query(), "{}", route.name());
            assert!(
                !matches!(route.handler, Handler::Tenant(_)) || route.tier == Tier::V1,
                "{}",
                route.name()
            );
        }
    }

    #[test]
    fn every_dataset_is_reachable() {
        for dataset in crate::reference::dataset::ALL {
            let reached = ROUTES.iter().any(|route| match route.handler {
                Handler::Whole(served) | Handler::Filtered(served) => std::ptr::eq(served, *dataset),
                Handler::Once(_)
                | Handler::Service(_)
                | Handler::Shared(_)
                | Handler::Tenant(_)
                | Handler::Beside(_)
                | Handler::Platform(_)
                | Handler::Open(_)
                | Handler::Signed(..)
                | Handler::Guest(_)
                | Handler::Later(_) => false,
            });
            assert!(reached, "{}", dataset.slug);
        }
    }

    #[test]
    fn every_module_has_routes_and_every_route_one_module() {
        let reference = crate::reference::Reference::load().unwrap();
        let modules = &reference.catalogue.modules.data;
        for route in ROUTES {
            let homes = modules.iter().filter(|module| platform::belongs(route.path, &module.paths)).count();
            assert_eq!(homes, 1, "{}", route.path);
        }
        for module in modules {
            assert!(ROUTES.iter().any(|route| platform::belongs(route.path, &module.paths)), "{}", module.id);
        }
    }

    #[test]
    fn every_widget_reads_a_route_that_stands_here() {
        let reference = crate::reference::Reference::load().unwrap();
        for widget in &reference.catalogue.widgets.data {
            assert!(
                ROUTES.iter().any(|route| route.path == widget.source),
                "{}: {}",
                widget.id,
                widget.source
            );
        }
    }
}
