//! Somebody at the workspace: signs in through the front door, keeps the cookie, fills in forms.

use crate::client::{Answer, Call};
use crate::house::House;
use holdfast::domain::query::encode;
use holdfast::domain::user::Role;

pub const PASSWORD: &str = "teal gravel onion ferry";

pub struct Person<'a> {
    pub house: &'a House,
    /// `holdfast=…`
    pub cookie: String,
    /// The token of the forms.
    pub token: String,
}

/// The cookie that an answer sets, as a request sends it.
pub fn cookie_of(answer: &Answer, name: &str) -> Option<String> {
    let beginning = format!("{name}=");
    let set = answer.headers.iter().filter(|(name, _)| name == "set-cookie");
    let found = set.map(|(_, value)| value).find(|value| value.starts_with(&beginning))?;
    Some(found.split(';').next().unwrap().to_owned())
}

/// The token that the forms of a page carry.
pub fn token_of(page: &Answer) -> String {
    let text = text_of(page);
    let at =
        text.find("name=\"token\" value=\"").expect("the page has a form") + "name=\"token\" value=\"".len();
    text[at..].split('"').next().unwrap().to_owned()
}

pub fn text_of(page: &Answer) -> String {
    String::from_utf8(page.body.clone()).unwrap()
}

/// Fields as a form sends them.
pub fn form(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    pairs.join("&")
}

/// A form on its way from a page of ours.
pub fn post(house: &House, path: &str, fields: &[(&str, &str)]) -> Call {
    house
        .call("POST", path)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Sec-Fetch-Site", "same-origin")
        .header("Accept", "text/html")
        .body(form(fields))
}

/// Sends the sign-in form as a browser would.
pub fn knock(house: &House, email: &str, password: &str, next: &str) -> Answer {
    let page = house.get(&format!("/sign-in{next}")).expect(200);
    let (cookie, token) = (cookie_of(&page, "holdfast-visit").unwrap(), token_of(&page));
    let fields = [("token", token.as_str()), ("email", email), ("password", password)];
    post(house, &format!("/sign-in{next}"), &fields).header("Cookie", &cookie).send()
}

/// Makes an account in our tenant.
pub fn account(house: &House, name: &str, role: Role) -> String {
    let email = format!("{}@bank.example", name.to_lowercase());
    let store = &house.service().house.app.store;
    store.create_user("ours", &email, name, role, PASSWORD).unwrap();
    email
}

impl<'a> Person<'a> {
    /// A new person of our tenant, signed in.
    pub fn new(house: &'a House, name: &str, role: Role) -> Person<'a> {
        let email = account(house, name, role);
        Person::sign_in(house, &email)
    }

    pub fn sign_in(house: &'a House, email: &str) -> Person<'a> {
        let answer = knock(house, email, PASSWORD, "");
        assert_eq!(answer.status, 303, "{}", String::from_utf8_lossy(&answer.body));
        let cookie = cookie_of(&answer, "holdfast").unwrap();
        let page = house.get("/").header("Cookie", &cookie).expect(200);
        Person { house, cookie, token: token_of(&page) }
    }

    pub fn get(&self, path: &str) -> Call {
        self.house.get(path).header("Cookie", &self.cookie).header("Accept", "text/html")
    }

    /// The text of a page.
    pub fn read(&self, path: &str) -> String {
        text_of(&self.get(path).expect(200))
    }

    /// Sends a form, with the token.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Call {
        let mut all = vec![("token", self.token.as_str())];
        all.extend_from_slice(fields);
        post(self.house, path, &all).header("Cookie", &self.cookie)
    }

    /// Sends a form that is to be carried out; gives the page that follows, and its path.
    pub fn does(&self, path: &str, fields: &[(&str, &str)]) -> (String, String) {
        let answer = self.post(path, fields).expect(303);
        let next = answer.header("location").unwrap().to_owned();
        let notice = cookie_of(&answer, "holdfast-notice").unwrap_or_default();
        let page = self.house.get(&next).header("Cookie", &format!("{}; {notice}", self.cookie)).expect(200);
        (next, text_of(&page))
    }
}
