//! The pages: every address that people open in a browser, as rows like those of the API.
//!
//! They are no part of the API: not counted in `/api/stats`, not in the OpenAPI document.

use crate::domain::arrangement::{ARRANGEMENT_PATCH, NEW_ARRANGEMENT, SUPPOSED_ARRANGEMENT};
use crate::domain::bulk::BULK_MOVE;
use crate::domain::cra_form::{CRA_REPORT_PATCH, NEW_CRA_REPORT};
use crate::domain::finding::{FINDING_PATCH, NEW_FINDING};
use crate::domain::history::NEW_NOTE;
use crate::domain::key::WORKSPACE_KEY;
use crate::domain::language::OWN_LANGUAGE;
use crate::domain::moves::{CRA_MOVE, CRA_SUBMISSION, FINDING_MOVE, PROGRAMME_MOVE, TEST_CASE_MOVE};
use crate::domain::programme::{NEW_PROGRAMME, PROGRAMME_PATCH};
use crate::domain::provider::{NEW_PROVIDER, PROVIDER_PATCH};
use crate::domain::risk::{ANALYZE, THRESHOLD_PATCH};
use crate::domain::test_case::{NEW_TEST_CASE, TEST_CASE_PATCH};
use crate::domain::user::Act::{ChangeData, Look, ManageKeys, ManageUsers, ReadAudit};
use crate::domain::user::{CHANGED_ROLE, NEW_USER, OWN_NAME};
use crate::domain::webhook::{NEW_WEBHOOK, WEBHOOK_PATCH};
use crate::http::route::Handler::{Once, Open};
use crate::http::route::Verb::{Get, Post};
use crate::http::route::{Route, asset, deed, door, page, view};
use crate::http::site::Site;
use crate::reference::dataset::{EVIDENCE, GAP_ANALYSIS, INCIDENT_DRILLS, MEASURES, RADAR, TRAINING};
use crate::web::{
    self, arrangement, concentration, cra, cra_form, document, export, finding, finding_form, finding_many,
    key, library, profile, programme, provider, register, sign_in, test_case, timeline, user, webhook,
};

/// What the service shows to people.
pub static SITE: Site = Site { pages: PAGES, error_page: web::error::page };

/// Every page.
pub static PAGES: &[Route] = &[
    page("/docs", Once(web::docs::page)).says("The API documentation."),
    asset("/assets/{name}", Open(web::asset::show)).says("Stylesheet, script and pictures of the pages."),
    // Coming and going.
    door(Get, "/sign-in", sign_in::page).asks(sign_in::PARAMS).says("Signing in."),
    door(Post, "/sign-in", sign_in::sign_in).asks(sign_in::PARAMS).takes(&sign_in::SIGN_IN).says("Signs in."),
    door(Get, "/invitation/{token}", sign_in::invitation).says("The first password, by a one-time link."),
    door(Post, "/invitation/{token}", sign_in::accept).takes(&sign_in::FIRST_PASSWORD).says("Sets it."),
    deed("/sign-out", Look, sign_in::sign_out).says("Signs out."),
    view("/", Look, web::dashboard::page).says("The dashboard."),
    // Programmes.
    view("/programmes", Look, programme::list).asks(programme::PARAMS).says("The programmes."),
    view("/programmes/export.csv", Look, export::programmes)
        .asks(programme::PARAMS)
        .says("The filtered programmes as a spreadsheet."),
    view("/programmes/new", ChangeData, programme::new).says("A new programme."),
    deed("/programmes", ChangeData, programme::create).takes(&NEW_PROGRAMME).says("Makes a programme."),
    view("/programmes/{programme}", Look, programme::show).says("One programme."),
    view("/programmes/{programme}/export.pdf", Look, document::programme)
        .says("A programme as a document, with its test cases and findings."),
    view("/programmes/{programme}/edit", ChangeData, programme::edit).says("The form of a programme."),
    deed("/programmes/{programme}", ChangeData, programme::change)
        .takes(&PROGRAMME_PATCH)
        .says("Changes a programme."),
    deed("/programmes/{programme}/status", ChangeData, programme::move_on)
        .takes(&PROGRAMME_MOVE)
        .says("Moves a programme."),
    view("/programmes/{programme}/delete", ChangeData, programme::ask_delete)
        .says("Asks whether to delete it."),
    deed("/programmes/{programme}/delete", ChangeData, programme::delete).says("Deletes a programme."),
    deed("/programmes/{programme}/notes", ChangeData, programme::note).takes(&NEW_NOTE).says("Adds a note."),
    // Findings.
    view("/findings", Look, finding::list).asks(finding::PARAMS).says("The findings."),
    view("/findings/export.csv", Look, export::findings)
        .asks(finding::PARAMS)
        .says("The filtered findings as a spreadsheet."),
    view("/findings/export.pdf", Look, document::findings)
        .asks(finding::PARAMS)
        .says("The filtered findings as a document."),
    view("/findings/new", ChangeData, finding_form::new)
        .asks(finding_form::NEW_PARAMS)
        .says("A new finding."),
    deed("/findings", ChangeData, finding_form::create).takes(&NEW_FINDING).says("Files a finding."),
    deed("/findings/move", ChangeData, finding_many::plan)
        .takes(&BULK_MOVE)
        .says("Says what of many findings can move."),
    deed("/findings/move/confirm", ChangeData, finding_many::carry_out)
        .takes(&BULK_MOVE)
        .says("Moves many findings."),
    view("/findings/{finding}", Look, finding::show).says("One finding."),
    view("/findings/{finding}/export.pdf", Look, document::finding).says("A finding as a document."),
    view("/findings/{finding}/edit", ChangeData, finding_form::edit).says("The form of a finding."),
    deed("/findings/{finding}", ChangeData, finding_form::change)
        .takes(&FINDING_PATCH)
        .says("Changes a finding."),
    deed("/findings/{finding}/status", ChangeData, finding::move_on)
        .takes(&FINDING_MOVE)
        .says("Moves a finding."),
    deed("/findings/{finding}/notes", ChangeData, finding::note).takes(&NEW_NOTE).says("Adds a note."),
    // Test cases.
    view("/test-cases", Look, test_case::list).asks(test_case::PARAMS).says("The test cases."),
    view("/test-cases/export.csv", Look, export::test_cases)
        .asks(test_case::PARAMS)
        .says("The filtered test cases as a spreadsheet."),
    view("/test-cases/new", ChangeData, test_case::new).asks(test_case::NEW_PARAMS).says("A new test case."),
    deed("/test-cases", ChangeData, test_case::create).takes(&NEW_TEST_CASE).says("Plans a test case."),
    view("/test-cases/{test_case}", Look, test_case::show).says("One test case."),
    view("/test-cases/{test_case}/export.pdf", Look, document::test_case)
        .says("A test case as a document, with its findings."),
    view("/test-cases/{test_case}/edit", ChangeData, test_case::edit).says("The form of a test case."),
    deed("/test-cases/{test_case}", ChangeData, test_case::change)
        .takes(&TEST_CASE_PATCH)
        .says("Changes a test case."),
    deed("/test-cases/{test_case}/status", ChangeData, test_case::move_on)
        .takes(&TEST_CASE_MOVE)
        .says("Moves a test case."),
    view("/test-cases/{test_case}/delete", ChangeData, test_case::ask_delete)
        .says("Asks whether to delete it."),
    deed("/test-cases/{test_case}/delete", ChangeData, test_case::delete).says("Deletes a test case."),
    deed("/test-cases/{test_case}/notes", ChangeData, test_case::note).takes(&NEW_NOTE).says("Adds a note."),
    // CRA reports.
    view("/cra-reports", Look, cra::list).asks(cra::PARAMS).says("The CRA reports."),
    view("/cra-reports/export.csv", Look, export::cra_reports)
        .asks(cra::PARAMS)
        .says("The filtered CRA reports as a spreadsheet."),
    view("/cra-reports/new", ChangeData, cra_form::new).says("A new CRA report."),
    deed("/cra-reports", ChangeData, cra_form::create).takes(&NEW_CRA_REPORT).says("Begins a CRA report."),
    view("/cra-reports/{report}", Look, cra::show).says("One CRA report with its clocks and texts."),
    view("/cra-reports/{report}/edit", ChangeData, cra_form::edit).says("The form of a CRA report."),
    deed("/cra-reports/{report}", ChangeData, cra_form::change)
        .takes(&CRA_REPORT_PATCH)
        .says("Changes a CRA report."),
    deed("/cra-reports/{report}/submissions", ChangeData, cra::submit)
        .takes(&CRA_SUBMISSION)
        .says("Records what was sent to an authority and what came back."),
    deed("/cra-reports/{report}/status", ChangeData, cra::move_on)
        .takes(&CRA_MOVE)
        .says("Moves a CRA report."),
    view("/cra-reports/{report}/delete", ChangeData, cra::ask_delete).says("Asks whether to delete it."),
    deed("/cra-reports/{report}/delete", ChangeData, cra::delete).says("Deletes a draft."),
    deed("/cra-reports/{report}/notes", ChangeData, cra::note).takes(&NEW_NOTE).says("Adds a note."),
    // Providers, arrangements, concentration.
    view("/providers", Look, provider::list).asks(provider::PARAMS).says("The providers."),
    view("/providers/export.csv", Look, export::providers)
        .asks(provider::PARAMS)
        .says("The filtered providers as a spreadsheet."),
    view("/providers/new", ChangeData, provider::new).says("A new provider."),
    deed("/providers", ChangeData, provider::create).takes(&NEW_PROVIDER).says("Enters a provider."),
    view("/providers/{provider}", Look, provider::show).says("One provider with its arrangements."),
    view("/providers/{provider}/edit", ChangeData, provider::edit).says("The form of a provider."),
    deed("/providers/{provider}", ChangeData, provider::change)
        .takes(&PROVIDER_PATCH)
        .says("Changes a provider."),
    view("/providers/{provider}/delete", ChangeData, provider::ask_delete).says("Asks whether to delete it."),
    deed("/providers/{provider}/delete", ChangeData, provider::delete).says("Deletes a provider."),
    view("/arrangements", Look, arrangement::list).asks(arrangement::PARAMS).says("The arrangements."),
    view("/arrangements/export.csv", Look, export::arrangements)
        .asks(arrangement::PARAMS)
        .says("The filtered arrangements as a spreadsheet."),
    view("/arrangements/new", ChangeData, arrangement::new)
        .asks(arrangement::NEW_PARAMS)
        .says("A new arrangement."),
    deed("/arrangements", ChangeData, arrangement::create)
        .takes(&NEW_ARRANGEMENT)
        .says("Enters an arrangement."),
    view("/arrangements/{arrangement}", Look, arrangement::show).says("One arrangement."),
    view("/arrangements/{arrangement}/edit", ChangeData, arrangement::edit)
        .says("The form of an arrangement."),
    deed("/arrangements/{arrangement}", ChangeData, arrangement::change)
        .takes(&ARRANGEMENT_PATCH)
        .says("Changes an arrangement."),
    view("/arrangements/{arrangement}/delete", ChangeData, arrangement::ask_delete)
        .says("Asks whether to delete it."),
    deed("/arrangements/{arrangement}/delete", ChangeData, arrangement::delete)
        .says("Deletes an arrangement."),
    view("/register/import", ChangeData, register::page)
        .asks(register::PARAMS)
        .says("Providers and arrangements out of a file."),
    view("/register/import/sample.csv", ChangeData, register::sample)
        .asks(register::PARAMS)
        .says("A file as it may look."),
    deed("/register/import", ChangeData, register::check)
        .takes(&register::FILE)
        .takes_file(register::FILE_BYTES_MAX)
        .says("Says what a file would do."),
    deed("/register/import/confirm", ChangeData, register::carry_out)
        .takes(&register::SEALED_FILE)
        .takes_file(register::FILE_BYTES_MAX)
        .says("Takes a file in."),
    view("/concentration", Look, concentration::page).says("The latest analysis and its breaches."),
    deed("/concentration", ChangeData, concentration::analyse).takes(&ANALYZE).says("Analyses the register."),
    deed("/concentration/what-if", Look, concentration::what_if)
        .takes(&SUPPOSED_ARRANGEMENT)
        .says("Says how it would be with one more arrangement."),
    view("/thresholds", Look, concentration::limits).says("The limits of concentration."),
    deed("/thresholds", ChangeData, concentration::change_limits)
        .takes(&THRESHOLD_PATCH)
        .says("Changes the limits."),
    // Oneself, the others, and keys.
    view("/profile", Look, profile::page).says("One's own name, language, password and sessions."),
    deed("/profile", Look, profile::rename).takes(&OWN_NAME).says("Changes one's name."),
    deed("/profile/language", Look, profile::choose_language)
        .takes(&OWN_LANGUAGE)
        .says("Chooses the language of one's pages."),
    deed("/profile/password", Look, profile::change_password)
        .takes(&profile::NEW_PASSWORD)
        .says("Changes one's password."),
    deed("/profile/sessions", Look, profile::end_session)
        .takes(&profile::END_SESSION)
        .says("Ends one of one's sessions, or all others."),
    view("/users", ManageUsers, user::list).asks(user::PARAMS).says("The people of the workspace."),
    deed("/users", ManageUsers, user::invite).takes(&NEW_USER).says("Brings somebody in."),
    deed("/users/{user}/link", ManageUsers, user::invite_again).says("A new one-time link for somebody."),
    deed("/users/{user}/role", ManageUsers, user::change_role)
        .takes(&CHANGED_ROLE)
        .says("Gives somebody another role."),
    view("/users/{user}/disable", ManageUsers, user::ask_disable)
        .says("Asks whether to switch an account off."),
    deed("/users/{user}/disable", ManageUsers, user::disable).says("Switches an account off."),
    deed("/users/{user}/enable", ManageUsers, user::enable).says("Switches an account on."),
    view("/api-keys", ManageKeys, key::list).asks(key::PARAMS).says("The API keys."),
    deed("/api-keys", ManageKeys, key::create).takes(&WORKSPACE_KEY).says("Makes a key and shows it once."),
    view("/api-keys/{key}/revoke", ManageKeys, key::ask_revoke).says("Asks how far to revoke."),
    deed("/api-keys/{key}/revoke", ManageKeys, key::revoke).takes(&key::REVOKE).says("Revokes a key."),
    // Webhooks.
    view("/webhooks", Look, webhook::list).asks(webhook::PARAMS).says("The webhooks."),
    view("/webhooks/new", ChangeData, webhook::new).says("A new webhook."),
    deed("/webhooks", ChangeData, webhook::create).takes(&NEW_WEBHOOK).says("Makes a webhook."),
    view("/webhooks/{webhook}", Look, webhook::show)
        .asks(webhook::LOG_PARAMS)
        .says("One webhook and its deliveries."),
    view("/webhooks/{webhook}/edit", ChangeData, webhook::edit).says("The form of a webhook."),
    deed("/webhooks/{webhook}", ChangeData, webhook::change).takes(&WEBHOOK_PATCH).says("Changes a webhook."),
    deed("/webhooks/{webhook}/active", ChangeData, webhook::set_active)
        .takes(&webhook::SWITCHED)
        .says("Switches a webhook on or off."),
    deed("/webhooks/{webhook}/test", ChangeData, webhook::test).says("Sends a test message."),
    view("/webhooks/{webhook}/delete", ChangeData, webhook::ask_delete).says("Asks whether to delete it."),
    deed("/webhooks/{webhook}/delete", ChangeData, webhook::delete).says("Deletes a webhook."),
    deed("/deliveries/{delivery}/replay", ChangeData, webhook::replay).says("Sends a message again."),
    // The service itself.
    view("/audit", ReadAudit, web::audit::list).asks(web::audit::PARAMS).says("The audit log."),
    view("/audit/export.csv", ReadAudit, export::audit)
        .asks(web::audit::PARAMS)
        .says("The filtered audit log as a spreadsheet."),
    view("/health", Look, web::health::page).says("How the service is."),
    // The library and the timeline.
    view("/timeline", Look, timeline::list).asks(timeline::PARAMS).says("The compliance timeline."),
    view("/measures", Look, library::measures).asks(library::params(&MEASURES)).says("The DORA measures."),
    view("/measures/{measure}", Look, library::measure)
        .says("One measure with its evidence, its gaps and own work on it."),
    view("/evidence", Look, library::evidence)
        .asks(library::params(&EVIDENCE))
        .says("The kinds of evidence."),
    view("/evidence/{evidence}", Look, library::proof).says("One kind of evidence."),
    view("/gap-analysis", Look, library::gaps).asks(library::params(&GAP_ANALYSIS)).says("The gap analysis."),
    view("/gap-analysis/{requirement}", Look, library::gap).says("One requirement."),
    view("/radar", Look, library::radar).asks(library::params(&RADAR)).says("Signals from supervisors."),
    view("/radar/{signal}", Look, library::signal).says("One signal."),
    view("/drills", Look, library::drills)
        .asks(library::params(&INCIDENT_DRILLS))
        .says("The incident drills."),
    view("/drills/{drill}", Look, library::drill).says("One drill."),
    view("/training", Look, library::trainings).asks(library::params(&TRAINING)).says("The training units."),
    view("/training/{training}", Look, library::training).says("One training unit."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::route::Tier;

    #[test]
    fn pages_stand_outside_the_api_and_say_one_sentence() {
        for row in PAGES {
            assert!(matches!(row.tier, Tier::Page | Tier::Workspace | Tier::Asset), "{}", row.path);
            let api = row.path == "/api" || row.path.starts_with("/api/");
            assert!(row.path.starts_with('/') && !api, "{}", row.path);
            assert!(row.asks.iter().all(|param| param.name != "limit"), "{}: a page stays small", row.path);
            assert!(row.says.ends_with('.') && !row.says.contains(". "), "{}", row.path);
        }
    }
}
