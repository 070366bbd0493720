//! People: signing in, sessions, throttle, invitations, roles. The pages come later; this is what they stand on.

use crate::audit::every_row;
use crate::house::House;
use holdfast::chance::Chance;
use holdfast::domain::page::Page;
use holdfast::domain::session::{Session, Visitor};
use holdfast::domain::user::Role;
use holdfast::store::{Invitation, PasswordChange, Purpose, SignIn, Store, Tenant};
use rusqlite::Connection;
use std::sync::Arc;

const EMAIL: &str = "anna@bank.example";
const PASSWORD: &str = "teal gravel onion ferry";
const OTHER: &str = "amber kettle moss lantern";
/// Argon2id of `PASSWORD` at less cost than is usual.
const WEAK: &str =
    "$argon2id$v=19$m=8,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$oFs+d/CmWHXd/NkkF+CBz9UjTDKvS4O38PQe5qRBqzo";
const MINUTE_MS: i64 = 60_000;

fn store(house: &House) -> &Store {
    &house.service().house.app.store
}

fn tenant(house: &House) -> Tenant<'_> {
    store(house).tenant(&store(house).tenant_id("ours").unwrap())
}

/// A house with an owner.
fn house() -> House {
    let house = House::new();
    store(&house).create_user("ours", EMAIL, "Anna", Role::Owner, PASSWORD).unwrap();
    house
}

fn visitor(address: &str) -> Visitor {
    Visitor { address: Some(address.parse().unwrap()), agent: Some("test".into()) }
}

fn knock(house: &House, password: &str) -> SignIn {
    store(house).sign_in(EMAIL, password, &visitor("192.0.2.1"), None).unwrap()
}

/// Signs in and gives the cookie.
fn enter(house: &House, password: &str) -> String {
    match knock(house, password) {
        SignIn::Welcome(token) => token.reveal().to_owned(),
        other @ (SignIn::Wrong | SignIn::Wait { .. } | SignIn::Busy) => panic!("{other:?}"),
    }
}

fn who(house: &House, cookie: &str) -> Option<Session> {
    store(house).session(cookie).unwrap()
}

/// The file as another process sees it.
fn file(house: &House) -> Connection {
    Connection::open(&house.config.db).unwrap()
}

fn events(house: &House) -> Vec<String> {
    let rows = tenant(house).audit(&every_row()).unwrap().items;
    rows.iter().rev().map(|row| format!("{} {}", row.event.name(), row.result.name())).collect()
}

#[test]
fn a_right_password_opens_and_everything_else_looks_the_same() {
    let house = house();
    let cookie = enter(&house, PASSWORD);
    assert_eq!(cookie.len(), 43);
    let session = who(&house, &cookie).unwrap();
    assert_eq!((session.name.as_str(), session.role, session.tenant.as_str()), ("Anna", Role::Owner, "ours"));
    assert_ne!(enter(&house, PASSWORD), cookie, "a new value at each sign-in");
    let wrong = |email: &str, password: &str| {
        store(&house).sign_in(email, password, &visitor("192.0.2.9"), None).unwrap()
    };
    assert_eq!(wrong(EMAIL, "teal gravel onion ferr"), SignIn::Wrong);
    assert_eq!(wrong("nobody@bank.example", PASSWORD), SignIn::Wrong);
    assert_eq!(wrong("no address", PASSWORD), SignIn::Wrong);
    assert_eq!(wrong(EMAIL, &"x".repeat(100_000)), SignIn::Wrong);
    assert!(matches!(wrong(" ANNA@Bank.example", PASSWORD), SignIn::Welcome(_)), "one spelling");
    assert!(who(&house, "").is_none() && who(&house, &cookie[1..]).is_none());
    let bytes = std::fs::read(&house.config.db).unwrap();
    let wal = std::fs::read(house.config.db.with_extension("db-wal")).unwrap_or_default();
    for stored in [bytes, wal] {
        let stored = String::from_utf8_lossy(&stored);
        assert!(!stored.contains(&cookie) && !stored.contains(PASSWORD), "no secret is stored");
    }
}

#[test]
fn a_session_ends_idle_and_old_and_is_stamped_once_a_minute() {
    let house = house();
    let cookie = enter(&house, PASSWORD);
    let seen =
        || -> i64 { file(&house).query_row("select seen_at from session", [], |row| row.get(0)).unwrap() };
    let began = seen();
    house.clock.advance_ms(MINUTE_MS - 1);
    who(&house, &cookie).unwrap();
    assert_eq!(seen(), began, "not yet");
    house.clock.advance_ms(1);
    who(&house, &cookie).unwrap();
    assert_eq!(seen(), began + MINUTE_MS);
    for _ in 0..16 {
        house.clock.advance_ms(29 * MINUTE_MS);
        who(&house, &cookie).expect("used within half an hour");
    }
    house.clock.advance_ms(16 * MINUTE_MS);
    assert!(who(&house, &cookie).is_none(), "eight hours are over");
    let idle = enter(&house, PASSWORD);
    house.clock.advance_ms(30 * MINUTE_MS);
    assert!(who(&house, &idle).is_none(), "half an hour without a request");
    store(&house).forget_expired_sessions().unwrap();
    let left: i64 = file(&house).query_row("select count(*) from session", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn a_person_has_ten_sessions_at_the_most_and_can_end_each() {
    let house = house();
    let cookies: Vec<String> = (0..12)
        .map(|_| {
            house.clock.advance_ms(1);
            enter(&house, PASSWORD)
        })
        .collect();
    let alive: Vec<bool> = cookies.iter().map(|cookie| who(&house, cookie).is_some()).collect();
    assert_eq!(alive, [vec![false; 2], vec![true; 10]].concat());
    let me = who(&house, &cookies[11]).unwrap();
    let sessions = tenant(&house).sessions(&me.user_id).unwrap();
    assert_eq!(sessions.len(), 10);
    assert_eq!(sessions[0].address.as_deref(), Some("192.0.2.1"));
    let handle = tenant(&house).by(me.actor(None));
    handle.end_session(&me.user_id, &who(&house, &cookies[5]).unwrap().id).unwrap();
    assert!(who(&house, &cookies[5]).is_none());
    assert!(handle.end_session("usr_other", &me.id).is_err(), "only one's own");
    assert_eq!(handle.end_other_sessions(&me.user_id, &me.id).unwrap(), 8);
    store(&house).sign_out(&cookies[11], None).unwrap();
    assert!(who(&house, &cookies[11]).is_none());
    let replaced = enter(&house, PASSWORD);
    store(&house).sign_in(EMAIL, PASSWORD, &Visitor::default(), Some(&replaced)).unwrap();
    assert!(who(&house, &replaced).is_none(), "signing in again replaces the session at hand");
}

#[test]
fn forms_carry_the_token_of_their_session_and_no_other() {
    let mut house = house();
    let (one, other) = (enter(&house, PASSWORD), enter(&house, PASSWORD));
    let (one, other) = (who(&house, &one).unwrap().id, who(&house, &other).unwrap().id);
    let token = store(&house).form_token(&one).unwrap();
    assert!(store(&house).is_form_token(&one, &token).unwrap());
    for wrong in ["", "x", &token[1..], &format!("{token}a")] {
        assert!(!store(&house).is_form_token(&one, wrong).unwrap(), "{wrong}");
    }
    assert!(!store(&house).is_form_token(&other, &token).unwrap());
    let visit = store(&house).make_visit().unwrap();
    let sign_in = store(&house).visit_token(visit.reveal()).unwrap();
    assert!(store(&house).is_visit_token(visit.reveal(), &sign_in).unwrap());
    assert!(!store(&house).is_visit_token(&one, &token).unwrap(), "the two kinds are not mixed up");
    house.restart();
    assert_eq!(store(&house).form_token(&one).unwrap(), token, "the secret is the database's");
}

#[test]
fn failures_slow_an_account_down_and_a_kill_forgives_nothing() {
    let house = house();
    for _ in 0..5 {
        assert_eq!(knock(&house, "a wrong password for sure"), SignIn::Wrong);
    }
    assert_eq!(knock(&house, PASSWORD), SignIn::Wait { seconds: 1 }, "not even the right one is looked at");
    house.clock.advance_ms(1_000);
    assert_eq!(knock(&house, "a wrong password for sure"), SignIn::Wrong);
    assert_eq!(knock(&house, PASSWORD), SignIn::Wait { seconds: 2 });

    // What is on the disk at this moment is what a kill would leave.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("killed.db");
    std::fs::copy(&house.config.db, &copy).unwrap();
    std::fs::copy(house.config.db.with_extension("db-wal"), copy.with_extension("db-wal")).unwrap();
    let allowlist = Arc::clone(&house.config.allowlist);
    let killed = Store::open(
        &copy,
        Purpose::Serve,
        10,
        allowlist,
        house.config.reserve.clone(),
        house.clock.clone(),
        Chance::system(),
    )
    .unwrap();
    let again = killed.sign_in(EMAIL, PASSWORD, &Visitor::default(), None).unwrap();
    assert_eq!(again, SignIn::Wait { seconds: 2 });

    house.clock.advance_ms(2_000);
    enter(&house, PASSWORD);
    assert_eq!(knock(&house, "a wrong password for sure"), SignIn::Wrong, "success begins anew");
    enter(&house, PASSWORD);
}

#[test]
fn attempts_at_the_same_time_count_one_by_one() {
    let house = house();
    let outcomes: Vec<SignIn> = std::thread::scope(|scope| {
        let knocks: Vec<_> =
            (0..24).map(|_| scope.spawn(|| knock(&house, "a wrong password for sure"))).collect();
        knocks.into_iter().map(|knock| knock.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == SignIn::Wrong).count(), 5, "{outcomes:?}");
}

#[test]
fn a_source_is_refused_after_thirty_failures_whatever_the_account() {
    let house = house();
    let knock = |number: usize, from: &str| {
        let email = format!("person{number}@bank.example");
        store(&house).sign_in(&email, "a wrong password for sure", &visitor(from), None).unwrap()
    };
    for number in 0..30 {
        assert_eq!(knock(number, &format!("2001:db8:0:1::{number}")), SignIn::Wrong, "{number}");
    }
    assert_eq!(knock(99, "2001:db8:0:1:ffff::1"), SignIn::Wait { seconds: 900 }, "one customer, one source");
    assert_eq!(knock(99, "2001:db8:0:2::1"), SignIn::Wrong, "somebody else");
    house.clock.advance_ms(15 * MINUTE_MS);
    assert_eq!(knock(98, "2001:db8:0:1::1"), SignIn::Wrong, "never for good");
}

#[test]
fn changing_the_password_needs_the_old_one_and_ends_every_other_session() {
    let house = house();
    let (mine, other) = (enter(&house, PASSWORD), enter(&house, PASSWORD));
    let me = who(&house, &mine).unwrap();
    let handle = tenant(&house).by(me.actor(None));
    let change = |old: &str, new: &str| handle.change_password(&me.user_id, old, new, &me.id).unwrap();
    assert!(matches!(change(PASSWORD, "short"), PasswordChange::Refused(_)));
    assert!(matches!(change(PASSWORD, "anna-bank-anna-bank"), PasswordChange::Refused(_)), "her own name");
    assert_eq!(change(OTHER, OTHER), PasswordChange::Wrong);
    let PasswordChange::Done(renewed) = change(PASSWORD, OTHER) else { panic!() };
    assert!(who(&house, &mine).is_none() && who(&house, &other).is_none(), "old cookies are worth nothing");
    assert_eq!(who(&house, renewed.reveal()).unwrap().id, me.id);
    assert_eq!(knock(&house, PASSWORD), SignIn::Wrong);
    enter(&house, OTHER);
    for _ in 0..5 {
        change(PASSWORD, PASSWORD);
    }
    assert_eq!(change(OTHER, PASSWORD), PasswordChange::Wait { seconds: 1 }, "the same throttle");
    assert_eq!(knock(&house, OTHER), SignIn::Wait { seconds: 1 });
}

#[test]
fn a_hash_of_less_cost_is_made_anew_at_the_next_sign_in() {
    let house = house();
    let hash = || -> String {
        file(&house).query_row("select password_hash from user_account", [], |row| row.get(0)).unwrap()
    };
    file(&house).execute("update user_account set password_hash = ?1", [WEAK]).unwrap();
    enter(&house, PASSWORD);
    assert!(hash().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash());
    enter(&house, PASSWORD);
}

#[test]
fn an_invitation_sets_a_password_once_within_a_week() {
    let house = house();
    let owner = who(&house, &enter(&house, PASSWORD)).unwrap();
    let handle = tenant(&house).by(owner.actor(None));
    let (bert, token) = handle.invite_user("Bert@bank.example", "Bert", Role::Editor).unwrap();
    assert!(!bert.has_password);
    assert!(handle.invite_user("bert@bank.example", "", Role::Viewer).is_err(), "an address is one person");
    let sign_in = |password: &str| {
        store(&house).sign_in("bert@bank.example", password, &visitor("192.0.2.2"), None).unwrap()
    };
    assert_eq!(sign_in(""), SignIn::Wrong, "no password is no password");
    let use_it =
        |token: &str, password: &str| store(&house).use_invitation(token, "Bert B.", password).unwrap();
    assert_eq!(use_it("nonsense", OTHER), Invitation::Gone);
    assert!(matches!(use_it(token.reveal(), "bertbertbertbert"), Invitation::Refused(_)));
    assert_eq!(store(&house).invited(token.reveal()).unwrap().unwrap().id, bert.id);
    let again = handle.invite_again(&bert.id).unwrap();
    assert_eq!(use_it(token.reveal(), OTHER), Invitation::Gone, "the newer link counts");
    assert_eq!(use_it(again.reveal(), OTHER), Invitation::Used { email: "bert@bank.example".into() });
    assert_eq!(use_it(again.reveal(), OTHER), Invitation::Gone, "once");
    assert!(matches!(sign_in(OTHER), SignIn::Welcome(_)));
    assert_eq!(handle.user(&bert.id).unwrap().name, "Bert B.");
    let (carl, late) = handle.invite_user("carl@bank.example", "", Role::Viewer).unwrap();
    house.clock.advance_ms(7 * 24 * 60 * MINUTE_MS);
    assert_eq!(use_it(late.reveal(), OTHER), Invitation::Gone, "a week is over");
    handle.invite_again(&carl.id).unwrap();
    assert!(handle.invite_again(&owner.user_id).is_err(), "one's own password is changed in the profile");
}

#[test]
fn taking_power_away_ends_sessions_and_the_last_owner_stays() {
    let house = house();
    let anna = who(&house, &enter(&house, PASSWORD)).unwrap();
    let handle = tenant(&house).by(anna.actor(None));
    let bert = store(&house).create_user("ours", "bert@bank.example", "", Role::Owner, OTHER).unwrap();
    let enter_bert = || match store(&house).sign_in("bert@bank.example", OTHER, &Visitor::default(), None) {
        Ok(SignIn::Welcome(token)) => Some(token.reveal().to_owned()),
        _ => None,
    };
    let cookie = enter_bert().unwrap();
    handle.change_role(&bert, Role::Viewer).unwrap();
    assert!(who(&house, &cookie).is_none(), "a role change ends sessions");
    for refused in [handle.change_role(&anna.user_id, Role::Editor), handle.disable_user(&anna.user_id)] {
        assert!(refused.unwrap_err().to_string().contains("last owner"));
    }
    assert!(store(&house).disable_user(EMAIL).is_err(), "at the command line too");
    let (invited, _) = handle.invite_user("dora@bank.example", "", Role::Owner).unwrap();
    assert!(handle.disable_user(&anna.user_id).is_err(), "an owner who cannot sign in yet is none");
    handle.disable_user(&invited.id).unwrap();
    let cookie = enter_bert().unwrap();
    handle.disable_user(&bert).unwrap();
    assert!(who(&house, &cookie).is_none() && enter_bert().is_none());
    handle.enable_user(&bert).unwrap();
    assert!(who(&house, &cookie).is_none() && enter_bert().is_some());
    let theirs = store(&house).tenant(&store(&house).tenant_id("theirs").unwrap());
    assert!(theirs.disable_user(&bert).is_err() && theirs.user(&bert).is_err(), "nobody else's people");
}

#[test]
fn what_happens_to_people_is_in_the_log_and_in_their_history() {
    let house = house();
    let owner = who(&house, &enter(&house, PASSWORD)).unwrap();
    knock(&house, "a wrong password for sure");
    let handle = tenant(&house).by(owner.actor(Some([192, 0, 2, 1].into())));
    let (bert, _) = handle.invite_user("bert@bank.example", "Bert", Role::Editor).unwrap();
    handle.change_role(&bert.id, Role::Viewer).unwrap();
    handle.disable_user(&bert.id).unwrap();
    let told = events(&house);
    for expected in [
        "user_created done",
        "signed_in done",
        "sign_in_refused refused",
        "user_invited done",
        "role_changed done",
        "user_disabled done",
    ] {
        assert_eq!(told.iter().filter(|event| *event == expected).count(), 1, "{expected}: {told:?}");
    }
    let history = handle.history(&bert.id, Page::default()).unwrap().items;
    assert_eq!(history.len(), 3);
    assert_eq!(history[1].changes[0].field, "role");
    assert_eq!(history[1].changes[0].after, "viewer");
    assert_eq!(history[1].actor_name.as_deref(), Some("Anna"));
    assert!(store(&house).verify_audit().is_ok());
}
