//! The language that a person chose for the pages. It is a wish, not an act: no history, no audit.

use super::{Tenant, failed};
use crate::domain::language::Language;
use crate::error::Error;

impl Tenant<'_> {
    /// Keeps the language of a person's pages; none leaves it to the browser.
    pub fn choose_language(&self, user_id: &str, language: Option<Language>) -> Result<(), Error> {
        let user_id = user_id.to_owned();
        self.write(move |desk| {
            desk.connection
                .prepare_cached("update user_account set language = ?3 where tenant_id = ?1 and id = ?2")
                .and_then(|mut row| row.execute((desk.tenant_id, &user_id, language.map(Language::name))))
                .map(|_| ())
                .map_err(failed)
        })
    }
}
