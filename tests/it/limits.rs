//! Rate limits through the front door: exact, concurrent, and kept over restarts.

use crate::house::House;
use crate::process::Workplace;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const V1: &str = "/api/v1/dora/measures?limit=1";
const V2: &str = "/api/v2/risk-register?limit=1";

#[test]
fn the_hundred_and_first_in_a_minute_is_refused_with_all_four_fields() {
    let house = House::new();
    let key = &house.ours.reader;
    for number in 1..=100 {
        let answer = house.get(V1).key(key).expect(200);
        let remaining = 60_i32 - number;
        assert_eq!(answer.header("ratelimit-policy"), Some("\"standard\";q=60;w=60, \"burst\";q=100;w=60"));
        assert_eq!(
            answer.header("ratelimit"),
            Some(format!("\"standard\";r={};t=60", remaining.max(0)).as_str())
        );
    }
    let refused = house.get(V1).key(key).expect(429);
    let body = refused.json();
    assert_eq!(body["limit"], json!(100));
    assert_eq!(body["window"], json!("60s"));
    assert_eq!(body["retry_after"], json!(60));
    assert!(body["error"].is_string());
    assert_eq!(refused.header("retry-after"), Some("60"));
    assert_eq!(refused.header("ratelimit"), Some("\"standard\";r=0;t=60"));
    house.clock.advance_ms(59_999);
    assert_eq!(house.get(V1).key(key).expect(429).json()["retry_after"], json!(1));
    house.clock.advance_ms(1);
    house.get(V1).key(key).expect(200);
}

#[test]
fn every_answer_but_401_and_429_counts_and_keys_do_not_share() {
    let house = House::new();
    let key = &house.ours.reader;
    let counted = [
        house.get(V1).key(key).expect(200),
        house.get("/api/v1/dora/measures/nothing").key(key).expect(404),
        house.get("/api/v1/dora/measures?limit=0").key(key).expect(422),
        house.call("POST", "/api/v1/keys").key(key).body("{}").expect(403),
    ];
    for (number, answer) in (1..).zip(&counted) {
        assert_eq!(answer.header("ratelimit"), Some(format!("\"standard\";r={};t=60", 60 - number).as_str()));
    }
    let etag = counted[0].header("etag").unwrap();
    let not_modified = house.get(V1).key(key).header("If-None-Match", etag).expect(304);
    assert_eq!(not_modified.header("ratelimit"), Some("\"standard\";r=55;t=60"));
    house.get(V1).key(&house.ours.revoked).expect(401);
    let other = house.get(V1).key(&house.ours.writer).expect(200);
    assert_eq!(other.header("ratelimit"), Some("\"standard\";r=59;t=60"));
    house.get("/api/v1/nothing").key(key).expect(404);
    let after = house.get(V1).key(key).expect(200);
    assert_eq!(after.header("ratelimit"), Some("\"standard\";r=54;t=60"), "an unknown path asks for no key");
}

#[test]
fn v2_refuses_the_sixty_first_and_leaves_v1_alone() {
    let house = House::new();
    let key = &house.ours.reader;
    for _ in 0..60 {
        let answer = house.get(V2).key(key).expect(200);
        assert_eq!(answer.header("ratelimit-policy"), Some("\"standard\";q=60;w=60"));
    }
    let refused = house.get(V2).key(key).expect(429).json();
    assert_eq!((&refused["limit"], &refused["retry_after"]), (&json!(60), &json!(60)));
    house.get(V1).key(key).expect(200);
}

#[test]
fn the_third_exceedance_blocks_and_the_block_survives_a_restart() {
    let mut house = House::new();
    let key = house.ours.reader.clone();
    let mut served = 0;
    for _ in 0..3 {
        for _ in 0..61 {
            served += usize::from(house.get(V1).key(&key).send().status == 200);
        }
        house.clock.advance_ms(60_000);
    }
    assert_eq!(served, 182);
    let blocked = house.get(V1).key(&key).expect(429).json();
    assert_eq!((&blocked["limit"], &blocked["retry_after"]), (&json!(60), &json!(240)));
    assert!(blocked["error"].as_str().unwrap().contains("blocked"));
    house.get(V2).key(&key).expect(200);
    house.restart();
    assert_eq!(house.get(V1).key(&key).expect(429).json()["retry_after"], json!(240));
    house.clock.advance_ms(239_999);
    house.get(V1).key(&key).expect(429);
    house.clock.advance_ms(1);
    let free = house.get(V1).key(&key).expect(200);
    assert_eq!(free.header("ratelimit"), Some("\"standard\";r=59;t=60"), "the window is empty again");
}

#[test]
fn an_orderly_restart_keeps_every_count() {
    let mut house = House::new();
    let key = house.ours.reader.clone();
    for _ in 0..42 {
        house.get(V1).key(&key).expect(200);
    }
    house.clock.advance_ms(10_000);
    house.restart();
    let answer = house.get(V1).key(&key).expect(200);
    assert_eq!(answer.header("ratelimit"), Some("\"standard\";r=17;t=50"));
}

#[test]
fn a_wall_clock_that_jumps_moves_no_limit() {
    let house = House::new();
    let key = &house.ours.reader;
    for _ in 0..100 {
        house.get(V1).key(key).expect(200);
    }
    for wall_ms in [0, 4_000_000_000_000, crate::house::START_MS] {
        house.clock.jump_to(wall_ms);
        assert_eq!(house.get(V1).key(key).expect(429).json()["retry_after"], json!(60));
    }
}

#[test]
fn of_three_hundred_at_once_exactly_one_hundred_are_served() {
    let house = House::new();
    let served: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..30)
            .map(|_| {
                scope.spawn(|| {
                    (0..10).filter(|_| house.get(V1).key(&house.ours.reader).send().status == 200).count()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert_eq!(served, 100);
}

#[test]
fn a_kill_loses_at_most_a_second_of_counts_and_no_block() {
    let place = Workplace::new();
    let server = place.serve();
    let key = place.first_key();
    for _ in 0..100 {
        server.get(V1).key(&key).expect(200);
    }
    server.get(V1).key(&key).expect(429);
    // Longer than the second after which counts are written.
    std::thread::sleep(Duration::from_millis(1600));
    server.kill();
    let server = place.serve();
    let refused = server.get(V1).key(&key).expect(429).json();
    let wait = refused["retry_after"].as_u64().unwrap();
    assert!((50..=60).contains(&wait), "{wait}");
    server.kill();
}

#[test]
fn a_block_is_on_the_disk_before_its_answer_leaves() {
    let place = Workplace::new();
    let limits = [("HOLDFAST_V1_STANDARD", "1"), ("HOLDFAST_V1_BURST", "5")];
    let server = place.serve_with(&limits);
    let key = place.first_key();
    server.get(V1).key(&key).expect(200);
    assert!(server.stop(Duration::from_secs(15)).success());
    // Two exceedances, two and four minutes ago: what a test would else have to wait for.
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    let ages: Vec<u8> = [240_000_u32, 120_000].iter().flat_map(|age| age.to_le_bytes()).collect();
    let changed =
        connection.execute("update rate_window set exceedances = ?1 where tier = 'v1'", [ages]).unwrap();
    assert_eq!(changed, 1);
    drop(connection);
    let server = place.serve_with(&limits);
    let blocked = server.get(V1).key(&key).expect(429).json();
    assert_eq!((&blocked["limit"], &blocked["retry_after"]), (&json!(1), &json!(300)));
    server.kill();
    let server = place.serve_with(&limits);
    let blocked = server.get(V1).key(&key).expect(429).json();
    assert!((290..=300).contains(&blocked["retry_after"].as_u64().unwrap()), "{blocked}");
}

#[test]
fn a_refusal_tells_when_the_standard_limit_has_room_again() {
    let house = House::new();
    let key = &house.ours.reader;
    (0..20).for_each(|_| drop(house.get(V1).key(key).expect(200)));
    house.clock.advance_ms(5_000);
    (0..80).for_each(|_| drop(house.get(V1).key(key).expect(200)));
    let refused = house.get(V1).key(key).expect(429);
    assert_eq!(refused.header("retry-after"), Some("55"), "when it would be served");
    assert_eq!(refused.header("ratelimit"), Some("\"standard\";r=0;t=60"), "when it would be normal");
}

#[test]
fn counts_that_could_not_be_stored_are_stored_later() {
    let mut house = House::new();
    let key = house.ours.reader.clone();
    (0..30).for_each(|_| drop(house.get(V1).key(&key).expect(200)));
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    connection.execute_batch("begin immediate").unwrap();
    assert!(house.service().house.app.save_counts().is_err(), "the database is locked");
    connection.execute_batch("rollback").unwrap();
    house.restart();
    let answer = house.get(V1).key(&key).expect(200);
    assert_eq!(answer.header("ratelimit"), Some("\"standard\";r=29;t=60"));
}

#[test]
fn limits_can_be_switched_off() {
    let house = House::with(|config| config.limits = None);
    let mut stream = TcpStream::connect(house.service().address).unwrap();
    let request =
        format!("GET {V1} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n", house.ours.reader);
    for _ in 0..150 {
        stream.write_all(request.as_bytes()).unwrap();
    }
    let mut seen = String::new();
    let mut buffer = [0; 65536];
    while seen.matches("HTTP/1.1 200").count() < 150 {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "closed after {} answers", seen.matches("HTTP/1.1 200").count());
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert!(!seen.contains("ratelimit"));
}
