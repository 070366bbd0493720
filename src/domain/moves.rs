//! Moves at the workspace: what the form of a move may say. A note of why goes with the move, in the same act.

use super::cra_form::{CRA_REPORT_PATCH, SUBMISSION};
use super::finding::FINDING_PATCH;
use super::form::{Field, Form, text};
use super::programme::PROGRAMME_PATCH;
use super::test_case::TEST_CASE_PATCH;

/// Why it is moved.
pub const NOTE: Field = text("note", 5_000).nullable().says("Why; it is kept as a note.");

/// A move of a programme.
pub static PROGRAMME_MOVE: Form = Form {
    name: "ProgrammeMove",
    fields: &[PROGRAMME_PATCH.field("status").required(), NOTE],
    read_only: &[],
};

/// A move of a test case, with what came out.
pub static TEST_CASE_MOVE: Form = Form {
    name: "TestCaseMove",
    fields: &[TEST_CASE_PATCH.field("status").required(), TEST_CASE_PATCH.field("result_summary"), NOTE],
    read_only: &[],
};

/// A move of a finding, with what accepting its risk needs.
pub static FINDING_MOVE: Form = Form {
    name: "FindingMove",
    fields: &[
        FINDING_PATCH.field("status").required(),
        FINDING_PATCH.field("acceptance_reason"),
        FINDING_PATCH.field("acceptance_expires_on"),
        NOTE,
    ],
    read_only: &[],
};

/// A move of a CRA report that hands nothing in.
pub static CRA_MOVE: Form =
    Form { name: "CraMove", fields: &[CRA_REPORT_PATCH.field("status").required(), NOTE], read_only: &[] };

/// A stage of a CRA report that was handed in.
pub static CRA_SUBMISSION: Form = Form {
    name: "CraSubmission",
    fields: &[
        SUBMISSION.field("stage").required(),
        SUBMISSION.field("submitted_at").required(),
        SUBMISSION.field("reference"),
        SUBMISSION.field("authority"),
        NOTE,
    ],
    read_only: &[],
};
