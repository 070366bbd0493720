//! The register out of a file at the workspace: preview, every fault by its place, all of it or nothing.

use crate::client::Answer;
use crate::house::House;
use crate::person::{Person, cookie_of, post, text_of};
use holdfast::domain::page::Page;
use holdfast::domain::query::Query;
use holdfast::domain::user::Role;

const HOSTILE: &str = "<img src=x onerror=alert(1)>";
const PATH: &str = "/register/import";

fn tenant<'a>(house: &'a House, name: &str) -> holdfast::store::Tenant<'a> {
    let store = &house.service().house.app.store;
    store.tenant(&store.tenant_id(name).unwrap())
}

fn provider_names(house: &House) -> Vec<String> {
    let listed = tenant(house, "ours").providers(&Query::default()).unwrap();
    let mut names: Vec<String> = listed.items.into_iter().map(|provider| provider.name).collect();
    names.sort();
    names
}

/// Sends a form as a browser does that has a field for files.
fn send(person: &Person, path: &str, fields: &[(&str, &[u8])], file: Option<&[u8]>) -> Answer {
    let mut body = Vec::new();
    let mut part = |head: String, bytes: &[u8]| {
        body.extend_from_slice(
            format!("------x7\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes(),
        );
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    };
    part("name=\"token\"".into(), person.token.as_bytes());
    for (name, value) in fields {
        part(format!("name=\"{name}\""), value);
    }
    let name = if file.is_some() { "register.csv" } else { "" };
    part(format!("name=\"file\"; filename=\"{name}\"\r\nContent-Type: text/csv"), file.unwrap_or_default());
    body.extend_from_slice(b"------x7--\r\n");
    let call = person.house.call("POST", path).header("Cookie", &person.cookie).header("Accept", "text/html");
    let call = call.header("Sec-Fetch-Site", "same-origin");
    call.header("Content-Type", "multipart/form-data; boundary=----x7").body(body).send()
}

fn upload(person: &Person, kind: &str, file: &[u8]) -> Answer {
    send(person, PATH, &[("kind", kind.as_bytes()), ("text", b"")], Some(file))
}

/// A preview of rows that were pasted.
fn paste(person: &Person, kind: &str, text: &str) -> Answer {
    person.post(PATH, &[("kind", kind), ("text", text)]).send()
}

/// What the confirmation of a preview sends: seal and text, as they stand in the page.
fn sealed(page: &str) -> (String, String) {
    let seal = page.split("name=\"seal\" value=\"").nth(1).expect("a seal").split('"').next().unwrap();
    let text =
        page.split("<textarea name=\"text\" hidden>\n").nth(1).unwrap().split("</textarea>").next().unwrap();
    let text = text.replace("&#34;", "\"").replace("&#39;", "'").replace("&#60;", "<").replace("&#62;", ">");
    (seal.to_owned(), text.replace("&#38;", "&"))
}

fn confirm(person: &Person, kind: &str, page: &str) -> Answer {
    let (seal, text) = sealed(page);
    // Browsers end the lines of a field as mail does.
    let text = text.replace('\n', "\r\n");
    let fields: [(&str, &[u8]); 3] =
        [("kind", kind.as_bytes()), ("seal", seal.as_bytes()), ("text", text.as_bytes())];
    send(person, &format!("{PATH}/confirm"), &fields, None)
}

/// Previews a file and imports it; gives what the next page says.
fn import(person: &Person, kind: &str, file: &[u8]) -> String {
    let page = upload(person, kind, file);
    assert_eq!(page.status, 200, "{}", text_of(&page));
    let done = confirm(person, kind, &text_of(&page));
    assert_eq!(done.status, 303, "{}", text_of(&done));
    let notice = cookie_of(&done, "holdfast-notice").unwrap();
    let next = done.header("location").unwrap();
    assert_eq!(next, format!("/{kind}"));
    text_of(&person.house.get(next).header("Cookie", &format!("{}; {notice}", person.cookie)).expect(200))
}

/// The faults of a preview: line, column, what to change.
fn faults_of(page: &str) -> Vec<(String, String, String)> {
    let table = page.split("id=\"h-faults\"").nth(1).expect("faults").split("</table>").next().unwrap();
    let cell = |row: &str, from: &str, to: &str| {
        row.split(from).nth(1).unwrap().split(to).next().unwrap().to_owned()
    };
    let rows = table.split("<th scope=\"row\">").skip(1);
    rows.map(|row| {
        let line = row.split('<').next().unwrap().to_owned();
        let reason = row.rsplit("<td ").next().unwrap();
        (line, cell(row, "<code class=\"ref\">", "<"), cell(reason, ">", "<"))
    })
    .collect()
}

#[test]
fn providers_and_arrangements_come_out_of_a_file() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    for (list, kind) in [("/providers", "providers"), ("/arrangements", "arrangements")] {
        assert!(anna.read(list).contains(&format!("href=\"{PATH}?kind={kind}\"")), "{list}");
    }
    let page = anna.read(&format!("{PATH}?kind=arrangements"));
    assert!(page.contains("value=\"arrangements\" checked") && page.contains("provider_name"), "{page}");
    assert!(page.contains("enctype=\"multipart/form-data\"") && page.contains("type=\"file\""), "{page}");
    let file =
        format!("name,country,lei,parent\r\n\"Nordlicht, Cloud\",DE,,Nord Group\r\n{HOSTILE},FR,,\r\n");
    let page = text_of(&upload(&anna, "providers", file.as_bytes()));
    for said in [
        "2 rows would be added.",
        "0 rows would change what is there.",
        "Import 2 rows",
        "Nothing is changed yet.",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(page.contains("&#60;img") && !page.contains("<img"), "{page}");
    assert!(provider_names(&house).is_empty(), "a preview stores nothing");
    assert!(import(&anna, "providers", file.as_bytes()).contains("2 rows are imported."));
    assert_eq!(provider_names(&house), [HOSTILE, "Nordlicht, Cloud"]);
    let listed = tenant(&house, "ours").providers(&Query::default()).unwrap();
    let nord = listed.items.iter().find(|provider| provider.name.starts_with("Nord")).unwrap();
    assert_eq!((nord.country.as_deref(), nord.parent.as_deref()), (Some("DE"), Some("Nord Group")));
    let history = tenant(&house, "ours").history(&nord.id, Page { limit: 9, offset: 0 }).unwrap();
    assert_eq!(
        (history.items[0].act.name(), history.items[0].actor_name.as_deref()),
        ("imported", Some("Anna"))
    );
    let olga = Person::new(&house, "Olga", Role::Owner);
    assert!(olga.read("/audit").contains("providers: 2 added, 0 updated"));
    // Arrangements by the name of their provider, and by its id.
    let file = format!(
        "provider_name;provider_id;service;criticality;annual_cost_eur;exit_plan;function\r\n\
         Nordlicht, Cloud;;Hosting;critical;48000,50;ja;Payments\r\n;{};Mail;standard;;;\r\n",
        nord.id
    );
    assert!(import(&anna, "arrangements", file.as_bytes()).contains("2 rows are imported."));
    let listed = tenant(&house, "ours").arrangements(&Query::default()).unwrap();
    let of = |service: &str| listed.items.iter().find(|arrangement| arrangement.service == service).unwrap();
    assert_eq!((of("Hosting").annual_cost_eur, of("Hosting").exit_plan), (Some(48000.5), Some(true)));
    assert!(of("Mail").provider_id == nord.id && of("Mail").exit_plan.is_none());
    // Twice the same file: nothing to do.
    let page = text_of(&upload(&anna, "arrangements", file.as_bytes()));
    assert!(
        page.contains("2 rows are in the register as they are.") && !page.contains("name=\"seal\""),
        "{page}"
    );
    assert!(page.contains("All of it is in the register already."), "{page}");
    // One cell is another, one is empty, one column is missing.
    let file = "provider_name;service;criticality;annual_cost_eur;function\nNordlicht, Cloud;Hosting;important;;Payments\n";
    let page = text_of(&paste(&anna, "arrangements", file));
    assert!(
        page.contains("1 row would change what is there.") && page.contains("critical → important"),
        "{page}"
    );
    import(&anna, "arrangements", file.as_bytes());
    let changed = tenant(&house, "ours").arrangement(&of("Hosting").id).unwrap();
    assert_eq!((changed.criticality.name(), changed.annual_cost_eur), ("important", None));
    assert_eq!(changed.exit_plan, Some(true), "a column that is missing leaves its field alone");
}

#[test]
fn every_fault_is_named_by_line_and_column_and_nothing_is_stored() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let file = "name,country,lei,id\nGood,DE,,\n,de,ABC,\n\n\"two\nlines\",Germany,,\nNew,,,prv_nothing\nGood,FR,,\nuneven,DE\n";
    let page = upload(&anna, "providers", file.as_bytes());
    assert_eq!(page.status, 422);
    let page = text_of(&page);
    let faults = faults_of(&page);
    let places: Vec<(&str, &str)> =
        faults.iter().map(|(line, column, _)| (line.as_str(), column.as_str())).collect();
    let expected = [
        ("3", "name"),
        ("3", "lei"),
        ("3", "country"),
        ("5", "country"),
        ("7", "id"),
        ("8", "name"),
        ("9", ""),
    ];
    assert_eq!(places, expected, "{faults:?}");
    let reason = |place: usize| faults[place].2.as_str();
    assert_eq!(reason(0), "Is required.");
    assert_eq!(reason(2), "Must be 2 capital letters.");
    assert!(reason(4).contains("names nothing of yours") || reason(4).contains("Names nothing of yours"));
    assert!(reason(5).contains("line 2") && reason(6).contains("2 cells"), "{faults:?}");
    assert!(page.contains("1 row would be added.") && page.contains("5 rows have faults."), "{page}");
    assert!(
        !page.contains("name=\"seal\"") && page.contains("uneven,DE"),
        "what was sent can be mended here"
    );
    assert!(provider_names(&house).is_empty());
    // Heads.
    let faults = faults_of(&text_of(&paste(&anna, "providers", "name,colour,name,created_at\na,b,c,d\n")));
    assert_eq!((faults[0].0.as_str(), faults[0].1.as_str()), ("1", "colour"));
    assert!(faults[0].2.contains("known are: id, name, lei") && faults[1].2.contains("twice"), "{faults:?}");
    let faults = faults_of(&text_of(&paste(&anna, "arrangements", "criticality,service\ncritical,x\n")));
    assert_eq!((faults.len(), faults[0].1.as_str()), (1, "provider_id"));
    // A file of nothing but faults: the first are named, the rest is counted.
    let file = format!("name,country\n{}", "x,y\n".repeat(300));
    let page = text_of(&upload(&anna, "providers", file.as_bytes()));
    assert_eq!(faults_of(&page).len(), 200);
    assert!(page.contains("And 100 more faults.") && page.contains("300 rows have faults."), "{page}");
}

#[test]
fn faults_of_arrangements_are_named_too() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    // Providers that are not there, that are two, that are another; numbers; words.
    anna.does("/providers", &[("name", "Twin")]);
    anna.does("/providers", &[("name", "Twin")]);
    let (one, _) = anna.does("/providers", &[("name", "One")]);
    let one = one.rsplit('/').next().unwrap().to_owned();
    let body = serde_json::json!({ "name": "Foreign" });
    let theirs = house
        .call("POST", "/api/v1/concentration-risk/providers")
        .key(&house.theirs.all)
        .json(&body)
        .expect(201);
    let foreign = theirs.json()["data"]["id"].as_str().unwrap().to_owned();
    let file = format!(
        "provider_id;provider_name;service;criticality;annual_cost_eur;exit_plan\n\
         {foreign};;a;critical;;\n;Foreign;b;critical;;\n;Twin;c;critical;;\n{one};Twin;d;critical;;\n\
         ;;e;critical;;\n;One;f;grave;48.000;maybe\n;One;g;critical;-1;\n;One;h;critical;viel;\n;One;{};critical;;\n",
        "x".repeat(256)
    );
    let faults = faults_of(&text_of(&upload(&anna, "arrangements", file.as_bytes())));
    let places: Vec<(&str, &str)> =
        faults.iter().map(|(line, column, _)| (line.as_str(), column.as_str())).collect();
    let expected = [
        ("2", "provider_id"),
        ("3", "provider_name"),
        ("4", "provider_name"),
        ("5", "provider_name"),
        ("6", "provider_id"),
        ("7", "annual_cost_eur"),
        ("7", "criticality"),
        ("7", "exit_plan"),
        ("8", "annual_cost_eur"),
        ("9", "annual_cost_eur"),
        ("10", "service"),
    ];
    assert_eq!(places, expected, "{faults:?}");
    assert!(faults[0].2.starts_with("Does not exist") && faults[1].2.contains("import the providers first"));
    assert!(faults[2].2.contains("2 providers") && faults[5].2.contains("write 48000"), "{faults:?}");
    assert_eq!(tenant(&house, "ours").arrangements(&Query::default()).unwrap().total, 0);
}

#[test]
fn files_come_as_spreadsheets_write_them() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let mark = "\u{feff}";
    for (place, file) in [
        format!("{mark}Name;Country\r\n\"Müller; Söhne \"\"Nord\"\"\";DE\r\n"),
        "name,country\n\"Müller; Söhne \"\"Nord\"\"\",DE".to_owned(),
        "name\tcountry\t\t\r\nMüller; Söhne \"Nord\"\tDE\t\t\r\n\t\t\t\r\n".to_owned(),
        "country;name;;\rDE;\"Müller; Söhne \"\"Nord\"\"\";;\r".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let page = text_of(&upload(&anna, "providers", file.as_bytes()));
        match place {
            0 => {
                assert!(import(&anna, "providers", file.as_bytes()).contains("1 row is imported."), "{page}")
            }
            _ => assert!(page.contains("1 row is in the register as it is."), "{file:?}: {page}"),
        }
    }
    assert_eq!(provider_names(&house), ["Müller; Söhne \"Nord\""]);
    for (file, says) in [
        (&b"name,country\nM\xfcller,DE\n"[..], "line 2 has a letter in an older encoding"),
        (b"\xff\xfen\0a\0m\0e\0", "UTF-16"),
        (b"name,country\n", "there are no rows"),
        (b"\n\n", "there are no rows"),
    ] {
        let answer = upload(&anna, "providers", file);
        let page = text_of(&answer);
        assert!(answer.status == 422 && page.to_lowercase().contains(&says.to_lowercase()), "{says}: {page}");
        assert!(page.contains("type=\"file\""), "and asks again");
    }
    // Nothing, both, and no kind.
    let page = text_of(&send(&anna, PATH, &[("kind", b"providers"), ("text", b"")], None));
    assert!(page.contains("Paste the rows here, or choose a file."), "{page}");
    let both = [("kind", &b"providers"[..]), ("text", b"name,country\nOutdated,Germany")];
    let page = text_of(&send(&anna, PATH, &both, Some(b"name\nmended\n")));
    assert!(page.contains("1 row would be added.") && !page.contains("Outdated"), "the file counts: {page}");
    let page = text_of(&anna.post(PATH, &[("text", "name\nx")]).expect(422));
    assert!(page.contains("href=\"#kind\"") && page.contains("name\nx</textarea>"), "{page}");
    // A formula stays text, on the way in and on the way out.
    let formulas = "name,sector\n=1+1,'@sum\n'=2+2,-5\n";
    import(&anna, "providers", formulas.as_bytes());
    let listed = tenant(&house, "ours").providers(&Query::default()).unwrap();
    let of = |name: &str| {
        listed.items.iter().find(|provider| provider.name == name).map(|found| found.sector.clone())
    };
    assert_eq!(of("=1+1"), Some(Some("@sum".into())));
    assert_eq!(of("=2+2"), Some(Some("-5".into())), "the guard of an export is taken away");
    // What is exported is unchanged when it comes back, twins and odd numbers and all; a change in it is found by the id.
    anna.does("/providers", &[("name", "Twin"), ("sector", "a, \"b\";\nc")]);
    let (twin, _) = anna.does("/providers", &[("name", "Twin")]);
    let twin = twin.rsplit('/').next().unwrap();
    for cost in ["48000", "1.234", "0.5", ""] {
        let fields = [
            ("service", "Hosting"),
            ("criticality", "critical"),
            ("provider_id", twin),
            ("annual_cost_eur", cost),
        ];
        anna.does("/arrangements", &fields);
    }
    for (kind, unchanged) in [("providers", 5), ("arrangements", 4)] {
        let file = anna.get(&format!("/{kind}/export.csv")).expect(200).body;
        let page = text_of(&upload(&anna, kind, &file));
        assert!(page.contains(&format!("{unchanged} rows are in the register as they are.")), "{page}");
        let renamed = String::from_utf8(file).unwrap().replace("=2+2", "Renamed").replace("1.234", "1.235");
        let page = text_of(&upload(&anna, kind, renamed.as_bytes()));
        assert!(
            page.contains("1 row would change what is there.") && page.contains("0 rows would be added."),
            "{page}"
        );
    }
}

#[test]
fn the_samples_can_be_imported() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    for kind in ["providers", "arrangements"] {
        let file = anna.get(&format!("{PATH}/sample.csv?kind={kind}")).expect(200);
        assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
        assert!(file.header("content-disposition").unwrap().contains(&format!("{kind}-sample.csv")));
        assert!(import(&anna, kind, &file.body).contains("1 row is imported."), "{kind}");
    }
}

#[test]
fn a_confirmation_does_what_was_shown_or_nothing() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let file = "name,country\nNordlicht,DE\nSüdlicht,FR\n";
    let page = text_of(&paste(&anna, "providers", file));
    // Somebody enters one of them meanwhile.
    anna.does("/providers", &[("name", "Nordlicht"), ("country", "AT")]);
    let answer = confirm(&anna, "providers", &page);
    assert_eq!(answer.status, 422);
    let now = text_of(&answer);
    assert!(now.contains("The register was changed since you looked; nothing was imported."), "{now}");
    assert!(now.contains("1 row would be added.") && now.contains("AT → DE"), "{now}");
    assert_eq!(provider_names(&house), ["Nordlicht"]);
    assert_eq!(confirm(&anna, "providers", &now).status, 303, "what is shown now can be agreed to");
    assert_eq!(provider_names(&house), ["Nordlicht", "Südlicht"]);
    // The same confirmation again, a text that was changed on the way, a seal that is none: checked, not believed.
    assert_eq!(confirm(&anna, "providers", &now).status, 422);
    let page = text_of(&paste(&anna, "providers", "name\nWestlicht\n"));
    for changed in
        [page.replace("Westlicht", "Westlicht\nOstlicht"), page.replace("name\nWest", "name,lei\nWest")]
    {
        assert_eq!(confirm(&anna, "providers", &changed).status, 422);
    }
    let bare = [("kind", "providers"), ("text", "name\nWestlicht\n")];
    anna.post(&format!("{PATH}/confirm"), &bare).expect(422);
    assert_eq!(provider_names(&house).len(), 2);
    // An update by id needs no more than what it changes; another tenant's id is unknown.
    let listed = tenant(&house, "ours").providers(&Query::default()).unwrap();
    let nord = listed.items.iter().find(|provider| provider.name == "Nordlicht").unwrap();
    import(&anna, "providers", format!("id,region\n{},EU\n", nord.id).as_bytes());
    let after = tenant(&house, "ours").provider(&nord.id).unwrap();
    assert_eq!((after.region.as_deref(), after.country.as_deref()), (Some("EU"), Some("DE")));
    let page = text_of(&upload(&anna, "providers", format!("id,name\n{},\n", nord.id).as_bytes()));
    assert_eq!(faults_of(&page)[0].1, "name", "what has to be there cannot be emptied");
    let ben = tenant(&house, "theirs");
    let values = holdfast::domain::provider::NEW_PROVIDER
        .check(serde_json::json!({ "name": "Theirs" }).as_object().unwrap())
        .unwrap();
    let foreign = ben.create_provider(values).unwrap();
    let page = text_of(&upload(&anna, "providers", format!("id,region\n{},EU\n", foreign.id).as_bytes()));
    assert_eq!(faults_of(&page)[0].1, "id");
    assert_eq!(ben.provider(&foreign.id).unwrap().region, None);
}

#[test]
fn a_file_has_its_limits_and_only_signed_in_people_send_one() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let rows = |number: usize| {
        let rows: Vec<String> = (0..number).map(|row| format!("Provider {row},DE,cloud\n")).collect();
        format!("name,country,sector\n{}", rows.concat())
    };
    let answer = upload(&anna, "providers", rows(5_001).as_bytes());
    assert!(answer.status == 422 && text_of(&answer).contains("The file has 5001 rows; at most 5000"));
    assert!(import(&anna, "providers", rows(5_000).as_bytes()).contains("5,000 rows are imported."));
    assert_eq!(tenant(&house, "ours").providers(&Query::default()).unwrap().total, 5_000);
    let large = format!("name,sector\n{}", format!("x,{}\n", "y".repeat(2_000)).repeat(1_100));
    let answer = upload(&anna, "providers", large.as_bytes());
    assert!(answer.status == 422 && text_of(&answer).contains("at most 2048 KiB"), "{}", answer.status);
    assert_eq!(upload(&anna, "providers", &vec![b'x'; 4 << 20]).status, 413);
    // A stranger is not listened to for so long.
    let stranger = Person { house: &house, cookie: "holdfast=nobody".into(), token: anna.token.clone() };
    assert_eq!(upload(&stranger, "providers", large.as_bytes()).status, 413);
    assert_eq!(upload(&stranger, "providers", b"name\nx\n").status, 403);
    // Nor is one whose role does not let them, nor a form without its token, nor one from elsewhere.
    let vera = Person::new(&house, "Vera", Role::Viewer);
    assert_eq!(upload(&vera, "providers", b"name\nx\n").status, 403);
    vera.get(PATH).expect(403);
    assert!(!vera.read("/providers").contains(PATH));
    let bare = Person { house: &house, cookie: anna.cookie.clone(), token: String::new() };
    assert_eq!(upload(&bare, "providers", b"name\nx\n").status, 403);
    post(&house, PATH, &[("kind", "providers"), ("text", "name\nx")])
        .header("Cookie", &anna.cookie)
        .expect(403);
    let body = "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n".to_owned()
        + &anna.token
        + "\r\n--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nSlipped in\r\n--b--";
    for (path, site, status) in
        [(PATH, "cross-site", 403), ("/providers", "same-origin", 403), (PATH, "same-origin", 422)]
    {
        let call = house.call("POST", path).header("Cookie", &anna.cookie).header("Sec-Fetch-Site", site);
        call.header("Content-Type", "multipart/form-data; boundary=b").body(body.clone()).expect(status);
    }
    // A body that is not what it says it is.
    let call =
        house.call("POST", PATH).header("Cookie", &anna.cookie).header("Sec-Fetch-Site", "same-origin");
    call.header("Content-Type", "multipart/form-data; boundary=other").body(body).expect(403);
    assert_eq!(tenant(&house, "ours").providers(&Query::default()).unwrap().total, 5_000);
}
