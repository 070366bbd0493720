//! How each kind of object is imported: which function of its own file does what.

use super::import::{Intake, Noun};
use super::{Desk, arrangement, cra, event, finding, programme, provider, test_case, webhook};
use crate::domain::arrangement::Arrangement;
use crate::domain::cra::CraReport;
use crate::domain::event::EventName;
use crate::domain::finding::Finding;
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::programme::Programme;
use crate::domain::provider::Provider;
use crate::domain::test_case::TestCase;
use crate::domain::webhook::Webhook;
use crate::error::{Error, Faults};
use rusqlite::Connection;
use serde_json::json;

/// The functions that are alike in every noun's file.
macro_rules! rows_of {
    ($module:ident, $kind:ident, $sql:literal) => {
        const KIND: Kind = Kind::$kind;
        const BY_EXTERNAL_ID: &'static str = $sql;

        fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Self> {
            $module::find(connection, tenant_id, id)
        }

        fn external_id(&mut self) -> &mut Option<String> {
            &mut self.external_id
        }

        fn insert(&self, desk: &Desk) -> Result<(), Error> {
            $module::insert(desk, self)
        }

        fn update(&self, desk: &Desk) -> Result<(), Error> {
            $module::update(desk, self)
        }

        fn id(self) -> String {
            self.id
        }
    };
}

impl Noun for Provider {
    rows_of!(provider, Provider, "select id from provider where tenant_id = ?1 and external_id = ?2");

    fn make(intake: &Intake, id: String, values: &Values) -> Result<Provider, Faults> {
        Ok(Provider::new(id, values, intake.desk.now_ms))
    }

    fn absorb(&mut self, intake: &Intake, values: &Values) -> Result<(), Faults> {
        self.set(values);
        self.updated_at = intake.desk.now_ms;
        Ok(())
    }
}

impl Noun for Arrangement {
    rows_of!(
        arrangement,
        Arrangement,
        "select id from arrangement where tenant_id = ?1 and external_id = ?2"
    );

    fn make(intake: &Intake, id: String, values: &Values) -> Result<Arrangement, Faults> {
        Ok(Arrangement::new(id, values, intake.desk.now_ms))
    }

    fn absorb(&mut self, intake: &Intake, values: &Values) -> Result<(), Faults> {
        self.set(values);
        self.updated_at = intake.desk.now_ms;
        Ok(())
    }
}

impl Noun for Programme {
    rows_of!(programme, Programme, "select id from programme where tenant_id = ?1 and external_id = ?2");

    fn make(intake: &Intake, id: String, values: &Values) -> Result<Programme, Faults> {
        Ok(Programme::new(id, values, intake.desk.now_ms))
    }

    fn absorb(&mut self, intake: &Intake, values: &Values) -> Result<(), Faults> {
        self.set(values);
        self.updated_at = intake.desk.now_ms;
        Ok(())
    }
}

impl Noun for TestCase {
    rows_of!(test_case, TestCase, "select id from test_case where tenant_id = ?1 and external_id = ?2");

    fn make(intake: &Intake, id: String, values: &Values) -> Result<TestCase, Faults> {
        let mut case = TestCase::new(id, values, intake.desk.now_ms);
        case.absorb(values, intake.desk.now_ms);
        Ok(case)
    }

    fn absorb(&mut self, intake: &Intake, values: &Values) -> Result<(), Faults> {
        TestCase::absorb(self, values, intake.desk.now_ms);
        Ok(())
    }

    fn tell(&self, desk: &Desk, before: Option<&TestCase>) -> Result<(), Error> {
        match before {
            Some(before) if before.status != self.status => test_case::tell_moved(desk, self, before.status),
            Some(_) | None => Ok(()),
        }
    }
}

impl Noun for Finding {
    rows_of!(finding, Finding, "select id from finding where tenant_id = ?1 and external_id = ?2");

    fn make(intake: &Intake, id: String, values: &Values) -> Result<Finding, Faults> {
        let mut finding = Finding::new(id, values, intake.desk.now_ms);
        Finding::absorb(&mut finding, values, intake.desk.now_ms)?;
        Ok(finding)
    }

    fn absorb(&mut self, intake: &Intake, values: &Values) -> Result<(), Faults> {
        Finding::absorb(self, values, intake.desk.now_ms)
    }

    fn tell(&self, desk: &Desk, before: Option<&Finding>) -> Result<(), Error> {
        match before {
            None => event::push(desk, EventName::FindingCreated, &json!(self)),
            Some(before) if before.status != self.status => finding::tell_moved(desk, self, before.status),
            Some(_) => Ok(()),
        }
    }
}

impl Noun for CraReport {
    rows_of!(cra, CraReport, "select id from cra_report where tenant_id = ?1 and external_id = ?2");

    fn make(intake: &Intake, id: String, values: &Values) -> Result<CraReport, Faults> {
        Ok(CraReport::new(id, values, intake.desk.now_ms))
    }

    fn absorb(&mut self, intake: &Intake, values: &Values) -> Result<(), Faults> {
        CraReport::absorb(self, values, intake.desk.now_ms);
        Ok(())
    }
}

impl Noun for Webhook {
    rows_of!(webhook, Webhook, "select id from webhook where tenant_id = ?1 and external_id = ?2");

    fn make(intake: &Intake, id: String, values: &Values) -> Result<Webhook, Faults> {
        Webhook::new(id, values, intake.allowlist, intake.desk.now_ms)
    }

    fn absorb(&mut self, intake: &Intake, values: &Values) -> Result<(), Faults> {
        self.change(values, intake.allowlist, intake.desk.now_ms)
    }
}
