-- The whole schema of a Holdfast database, version 3.
--
-- Rules: STRICT tables; tenant_id first in the key of every tenant table, so that a
-- link between two tenants cannot be stored; times are INTEGER milliseconds UTC;
-- closed sets are checked here too. Older files reach this schema by the steps in
-- src/store/migrate.rs, and a test proves that both ways arrive at the same place.

-- A customer. Everything below belongs to one and goes when it goes.
create table tenant (
  id         text    not null primary key,
  name       text    not null unique check (length(name) between 1 and 255),
  created_at integer not null
) strict;

-- A person who signs in to the workspace.
create table user_account (
  tenant_id     text    not null references tenant (id) on delete cascade,
  id            text    not null,
  email         text    not null unique,
  role          text    not null check (role in ('owner', 'editor', 'viewer')),
  password_hash text    not null,
  created_at    integer not null,
  disabled_at   integer,
  primary key (tenant_id, id)
) strict, without rowid;

-- An API key. The key itself is nowhere: only its SHA-256 and its first characters.
create table api_key (
  tenant_id    text    not null references tenant (id) on delete cascade,
  id           text    not null,
  hash         blob    not null unique check (length(hash) = 32),
  prefix       text    not null,
  name         text    not null check (length(name) between 1 and 255),
  permissions  text    not null,
  created_by   text,
  created_at   integer not null,
  expires_at   integer,
  last_used_at integer,
  revoked_at   integer,
  primary key (tenant_id, id)
) strict, without rowid;

-- `key revoke ID` names no tenant.
create unique index api_key_by_id on api_key (id);

-- What a key did in the last minutes, so that a restart forgives nothing. The two
-- blobs hold, as 32-bit little-endian numbers, how many milliseconds before
-- saved_at each request was served; exceedances likewise.
create table rate_window (
  tenant_id     text    not null,
  key_id        text    not null,
  tier          text    not null check (tier in ('v1', 'v2')),
  saved_at      integer not null,
  admissions    blob    not null,
  exceedances   blob    not null,
  blocked_until integer,
  primary key (tenant_id, key_id, tier),
  foreign key (tenant_id, key_id) references api_key (tenant_id, id) on delete cascade
) strict, without rowid;

-- Since version 2: what a tenant works with.

-- A programme of tests.
create table programme (
  tenant_id   text    not null references tenant (id) on delete cascade,
  id          text    not null,
  external_id text,
  name        text    not null check (length(name) between 1 and 255),
  description text,
  framework   text    not null check (framework in ('dora', 'marisk', 'iso-27001', 'cra', 'nis2', 'cross-framework')),
  status      text    not null check (status in ('draft', 'active', 'completed', 'archived')),
  owner       text,
  starts_on   text,
  ends_on     text,
  created_at  integer not null,
  updated_at  integer not null,
  primary key (tenant_id, id)
) strict, without rowid;

create unique index programme_external on programme (tenant_id, external_id) where external_id is not null;

-- A test case of a programme. measure_ids is a JSON array.
create table test_case (
  tenant_id      text    not null references tenant (id) on delete cascade,
  id             text    not null,
  external_id    text,
  programme_id   text    not null,
  title          text    not null check (length(title) between 1 and 255),
  description    text,
  type           text    not null,
  status         text    not null check (status in ('planned', 'in_progress', 'passed', 'failed', 'blocked', 'cancelled')),
  priority       text    not null check (priority in ('critical', 'high', 'medium', 'low')),
  assignee       text,
  scheduled_on   text,
  due_on         text,
  executed_at    integer,
  result_summary text,
  measure_ids    text    not null default '[]',
  created_at     integer not null,
  updated_at     integer not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, programme_id) references programme (tenant_id, id) on delete cascade
) strict, without rowid;

create unique index test_case_external on test_case (tenant_id, external_id) where external_id is not null;
create index test_case_programme on test_case (tenant_id, programme_id, status);
create index test_case_status on test_case (tenant_id, status, id);

-- A finding. measure_ids is a JSON array.
create table finding (
  tenant_id             text    not null references tenant (id) on delete cascade,
  id                    text    not null,
  external_id           text,
  programme_id          text,
  test_case_id          text,
  title                 text    not null check (length(title) between 1 and 255),
  description           text,
  severity              text    not null check (severity in ('critical', 'high', 'medium', 'low', 'informational')),
  status                text    not null
    check (status in ('open', 'in_progress', 'resolved', 'closed', 'risk_accepted', 'false_positive')),
  owner                 text,
  detected_on           text    not null,
  due_on                text,
  remediation           text,
  measure_ids           text    not null default '[]',
  acceptance_reason     text,
  acceptance_expires_on text,
  closed_at             integer,
  created_at            integer not null,
  updated_at            integer not null,
  check (status <> 'risk_accepted' or (acceptance_reason is not null and acceptance_expires_on is not null)),
  primary key (tenant_id, id),
  foreign key (tenant_id, programme_id) references programme (tenant_id, id),
  foreign key (tenant_id, test_case_id) references test_case (tenant_id, id)
) strict, without rowid;

create unique index finding_external on finding (tenant_id, external_id) where external_id is not null;
create index finding_open on finding (tenant_id, id) where status in ('open', 'in_progress', 'resolved');
create index finding_status on finding (tenant_id, status, id);
create index finding_severity on finding (tenant_id, severity, status, id);
create index finding_programme on finding (tenant_id, programme_id, id);
create index finding_test_case on finding (tenant_id, test_case_id, id);
create index finding_acceptance on finding (acceptance_expires_on) where status = 'risk_accepted';

-- How many findings a tenant has in each status, kept by the triggers below: a total must not cost a walk
-- over a million rows.
create table finding_tally (
  tenant_id text    not null references tenant (id) on delete cascade,
  status    text    not null,
  findings  integer not null,
  primary key (tenant_id, status)
) strict, without rowid;

create trigger finding_added after insert on finding begin
  insert into finding_tally values (new.tenant_id, new.status, 1)
    on conflict do update set findings = findings + 1;
end;

create trigger finding_moved after update of status on finding when old.status <> new.status begin
  update finding_tally set findings = findings - 1 where tenant_id = old.tenant_id and status = old.status;
  insert into finding_tally values (new.tenant_id, new.status, 1)
    on conflict do update set findings = findings + 1;
end;

create trigger finding_removed after delete on finding begin
  update finding_tally set findings = findings - 1 where tenant_id = old.tenant_id and status = old.status;
end;

-- A provider of services, and an arrangement with one: the register behind concentration risk.
create table provider (
  tenant_id   text    not null references tenant (id) on delete cascade,
  id          text    not null,
  external_id text,
  name        text    not null check (length(name) between 1 and 255),
  lei         text,
  parent      text,
  sector      text,
  country     text,
  region      text,
  created_at  integer not null,
  updated_at  integer not null,
  primary key (tenant_id, id)
) strict, without rowid;

create unique index provider_external on provider (tenant_id, external_id) where external_id is not null;

create table arrangement (
  tenant_id        text    not null references tenant (id) on delete cascade,
  id               text    not null,
  external_id      text,
  provider_id      text    not null,
  service          text    not null check (length(service) between 1 and 255),
  function         text,
  criticality      text    not null check (criticality in ('critical', 'important', 'standard')),
  technology       text,
  country          text,
  region           text,
  annual_cost_eur  real,
  substitutability text check (substitutability in ('easy', 'difficult', 'impossible')),
  exit_plan        integer check (exit_plan in (0, 1)),
  created_at       integer not null,
  updated_at       integer not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, provider_id) references provider (tenant_id, id)
) strict, without rowid;

create unique index arrangement_external on arrangement (tenant_id, external_id) where external_id is not null;
create index arrangement_provider on arrangement (tenant_id, provider_id);

-- A tenant's thresholds; without a row the defaults count.
create table threshold (
  tenant_id                    text    not null primary key references tenant (id) on delete cascade,
  provider_concentration_pct   integer not null check (provider_concentration_pct between 1 and 100),
  sector_concentration_pct     integer not null check (sector_concentration_pct between 1 and 100),
  regional_concentration_pct   integer not null check (regional_concentration_pct between 1 and 100),
  technology_concentration_pct integer not null check (technology_concentration_pct between 1 and 100),
  review_frequency_days        integer not null check (review_frequency_days between 30 and 730),
  enabled                      integer not null check (enabled in (0, 1)),
  updated_at                   integer not null
) strict, without rowid;

-- A concentration analysis as it was answered; body is its JSON, shares holds the unrounded ones.
create table analysis (
  tenant_id   text    not null references tenant (id) on delete cascade,
  id          text    not null,
  analysed_at integer not null,
  body        text    not null,
  shares      text    not null,
  primary key (tenant_id, id)
) strict, without rowid;

-- A report under Article 14 of the Cyber Resilience Act. member_states and submissions are JSON arrays.
create table cra_report (
  tenant_id              text    not null references tenant (id) on delete cascade,
  id                     text    not null,
  external_id            text,
  kind                   text    not null check (kind in ('exploited_vulnerability', 'severe_incident')),
  title                  text    not null check (length(title) between 1 and 255),
  product_name           text    not null check (length(product_name) between 1 and 255),
  product_version        text,
  cve_id                 text,
  severity               text check (severity in ('critical', 'high', 'medium', 'low')),
  cvss_score             real check (cvss_score between 0 and 10),
  status                 text    not null
    check (status in ('draft', 'early_warning_sent', 'notification_sent', 'final_report_sent', 'closed', 'withdrawn')),
  became_aware_at        integer,
  corrective_measure_at  integer,
  early_warning_sent_at  integer,
  notification_sent_at   integer,
  final_report_sent_at   integer,
  member_states          text    not null default '[]',
  summary                text,
  root_cause             text,
  mitigation             text,
  user_guidance          text,
  submissions            text    not null default '[]',
  created_at             integer not null,
  updated_at             integer not null,
  primary key (tenant_id, id)
) strict, without rowid;

create unique index cra_report_external on cra_report (tenant_id, external_id) where external_id is not null;

-- A webhook. events is a JSON array.
create table webhook (
  tenant_id   text    not null references tenant (id) on delete cascade,
  id          text    not null,
  external_id text,
  name        text    not null check (length(name) between 1 and 255),
  channel     text    not null check (channel in ('slack', 'teams', 'email')),
  url         text    not null check (length(url) between 1 and 512),
  events      text    not null,
  active      integer not null check (active in (0, 1)),
  created_at  integer not null,
  updated_at  integer not null,
  primary key (tenant_id, id)
) strict, without rowid;

create unique index webhook_external on webhook (tenant_id, external_id) where external_id is not null;

-- An event, stored with the change that caused it. payload is the JSON that receivers get.
create table event (
  tenant_id   text    not null references tenant (id) on delete cascade,
  id          text    not null,
  name        text    not null
    check (name in ('finding.created', 'finding.status_changed', 'test_case.status_changed', 'deadline.approaching')),
  occurred_at integer not null,
  payload     text    not null,
  primary key (tenant_id, id)
) strict, without rowid;

-- Answers to requests that carried an Idempotency-Key, kept a day.
create table idempotency (
  tenant_id  text    not null references tenant (id) on delete cascade,
  key        text    not null,
  request    blob    not null,
  object_id  text    not null,
  created_at integer not null,
  primary key (tenant_id, key)
) strict, without rowid;

-- The compliance timeline: platform-wide, from the build's data and the operator's file.
create table milestone (
  id             text    not null primary key,
  date           text    not null,
  date_precision text    not null check (date_precision in ('day', 'month')),
  title          text    not null,
  description    text    not null,
  framework      text    not null,
  category       text    not null,
  authority      text    not null,
  source         text    not null,
  confirmed      integer not null check (confirmed in (0, 1))
) strict, without rowid;

create index milestone_date on milestone (date, id);

-- Since version 3: what is sent, found and watched over.

-- A webhook's latest attempt, and since when none has succeeded.
alter table webhook add column last_at integer;
alter table webhook add column last_outcome text;
alter table webhook add column last_http_status integer;
alter table webhook add column last_attempts integer;
alter table webhook add column failing_since integer;

-- A message to one webhook: of an event, or a test without one. While a worker has it, it is `sending` and
-- lease_until says until when nobody else takes it.
create table delivery (
  tenant_id   text    not null references tenant (id) on delete cascade,
  id          text    not null,
  webhook_id  text    not null,
  event_id    text,
  state       text    not null check (state in ('pending', 'sending', 'delivered', 'failed', 'cancelled')),
  attempts    integer not null default 0,
  next_at     integer not null,
  lease_until integer,
  created_at  integer not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, webhook_id) references webhook (tenant_id, id) on delete cascade,
  foreign key (tenant_id, event_id) references event (tenant_id, id) on delete cascade
) strict, without rowid;

create index delivery_log on delivery (tenant_id, webhook_id, id);
create index delivery_event on delivery (tenant_id, event_id);
create index delivery_due on delivery (webhook_id, next_at) where state = 'pending';
create index delivery_lease on delivery (lease_until) where state = 'sending';
create index delivery_age on delivery (created_at) where state in ('delivered', 'failed', 'cancelled');
create index event_age on event (occurred_at);

-- One try to send a delivery.
create table delivery_attempt (
  tenant_id   text    not null,
  delivery_id text    not null,
  number      integer not null,
  at          integer not null,
  outcome     text    not null,
  http_status integer,
  duration_ms integer not null,
  primary key (tenant_id, delivery_id, number),
  foreign key (tenant_id, delivery_id) references delivery (tenant_id, id) on delete cascade
) strict, without rowid;

-- What the look for near deadlines walks over, all tenants together.
create index finding_due on finding (due_on)
  where due_on is not null and status in ('open', 'in_progress', 'resolved');
create index test_case_due on test_case (due_on)
  where due_on is not null and status in ('planned', 'in_progress', 'blocked');
create index cra_report_running on cra_report (tenant_id, id)
  where status in ('draft', 'early_warning_sent', 'notification_sent');

-- A deadline that its tenant was told of: once, until it moves.
create table deadline_notice (
  tenant_id text    not null references tenant (id) on delete cascade,
  object_id text    not null,
  kind      text    not null,
  due_at    integer not null,
  told_at   integer not null,
  primary key (tenant_id, object_id, kind, due_at)
) strict, without rowid;

-- Vulnerability scans, our own and imported ones: platform-wide, the newest of each source.
create table scan (
  id         text    not null primary key,
  source     text    not null,
  scanned_at integer not null,
  body       text    not null
) strict;

create index scan_newest on scan (scanned_at);
create index scan_source on scan (source, scanned_at);

-- People of the workspace, what they did and how they got in.

-- What others call a person; empty until somebody says.
alter table user_account add column name text not null default '';

-- A secret of this database, made once: forms are signed with it.
create table server_secret (
  name  text not null primary key,
  value blob not null check (length(value) = 32)
) strict, without rowid;

-- A person who is signed in. The cookie's value is nowhere: only its SHA-256. seen_at is written at most once
-- a minute.
create table session (
  tenant_id  text    not null,
  id         text    not null,
  user_id    text    not null,
  hash       blob    not null unique check (length(hash) = 32),
  created_at integer not null,
  seen_at    integer not null,
  address    text,
  agent      text,
  primary key (tenant_id, id),
  foreign key (tenant_id, user_id) references user_account (tenant_id, id) on delete cascade
) strict, without rowid;

create index session_user on session (tenant_id, user_id, id);
create index session_age on session (created_at);

-- A link that lets a person set a password, once. Only the SHA-256 of its token is stored.
create table invitation (
  tenant_id  text    not null,
  user_id    text    not null,
  hash       blob    not null unique check (length(hash) = 32),
  expires_at integer not null,
  primary key (tenant_id, user_id),
  foreign key (tenant_id, user_id) references user_account (tenant_id, id) on delete cascade
) strict, without rowid;

-- Failed attempts to sign in, per account (the SHA-256 of its address, known or not) and per source address.
create table throttle (
  kind          text    not null check (kind in ('account', 'source')),
  name          blob    not null,
  failures      integer not null,
  since         integer not null,
  last_at       integer not null,
  blocked_until integer,
  primary key (kind, name)
) strict, without rowid;

create index throttle_age on throttle (last_at);

-- What happened to an object: one row an act, in the act's own transaction. It outlives the object. changes is
-- a JSON array of field, before and after.
create table history (
  tenant_id  text    not null references tenant (id) on delete cascade,
  object_id  text    not null,
  number     integer not null,
  kind       text    not null,
  at         integer not null,
  act        text    not null check (act in ('created', 'imported', 'changed', 'deleted')),
  actor      text    not null check (actor in ('user', 'key', 'clock', 'command_line')),
  actor_id   text,
  actor_name text,
  changes    text    not null default '[]',
  primary key (tenant_id, object_id, number)
) strict, without rowid;

-- What people write about an object.
create table note (
  tenant_id  text    not null references tenant (id) on delete cascade,
  object_id  text    not null,
  number     integer not null,
  at         integer not null,
  actor      text    not null,
  actor_id   text,
  actor_name text,
  body       text    not null,
  primary key (tenant_id, object_id, number)
) strict, without rowid;

-- Security-relevant acts, in a chain: hash is the SHA-256 of the hash before and of this row. It belongs to no
-- tenant, so that it outlives each.
create table audit (
  number     integer not null primary key,
  at         integer not null,
  event      text    not null,
  result     text    not null check (result in ('done', 'refused')),
  tenant     text,
  actor      text    not null,
  actor_id   text,
  actor_name text,
  address    text,
  object_id  text,
  detail     text,
  hash       blob    not null check (length(hash) = 32)
) strict;

-- A page of the log, newest first: of all, of one kind of act, of one person. Each ends with the row's number.
create index audit_tenant on audit (tenant, at);
create index audit_event on audit (tenant, event, at);
create index audit_actor on audit (tenant, actor_id, at);

-- Where the chain begins: behind the last row that was pruned.
create table audit_anchor (
  number integer not null primary key,
  hash   blob    not null check (length(hash) = 32)
) strict;

create trigger audit_unchanged before update on audit begin
  select raise(abort, 'the audit log is never changed');
end;

-- Only what lies before the anchor may go.
create trigger audit_kept before delete on audit
when old.number > coalesce((select max(number) from audit_anchor), 0) begin
  select raise(abort, 'the audit log is kept');
end;

create trigger audit_anchor_unchanged before update on audit_anchor begin
  select raise(abort, 'an anchor of the audit log is never changed');
end;

create trigger audit_anchor_kept before delete on audit_anchor begin
  select raise(abort, 'an anchor of the audit log is kept');
end;

-- What search finds, one row an object: `number` is its row in search_index.
create table search_entry (
  tenant_id text    not null references tenant (id) on delete cascade,
  id        text    not null,
  number    integer not null unique,
  primary key (tenant_id, id)
) strict, without rowid;

-- The words of each object. It holds no text, only terms, and each term begins with its tenant: what others
-- store costs a search nothing and cannot be found by it. `terms` and its rules are in src/store/search.rs.
create virtual table search_index using fts5 (
  title, body, content = '', contentless_delete = 1, detail = column, tokenize = 'ascii',
  prefix = '27 28' -- the tenant's 26 characters and one or two of the word
);

-- The terms of search_index in their order.
create virtual table search_term using fts5vocab (search_index, instance);

-- By which rules search_index was filled; a build with others fills it anew.
create table search_rules (
  number integer primary key
) strict;

-- The texts that are searched. The triggers below name the same columns to see whether a change touches them.
create view search_text (tenant_id, id, title, body) as
  select tenant_id, id, name, concat_ws(char(10), description, owner) from programme
  union all
  select tenant_id, id, title, concat_ws(char(10), description, result_summary, assignee) from test_case
  union all
  select tenant_id, id, title, concat_ws(char(10), description, remediation, owner) from finding
  union all
  select tenant_id, id, title, concat_ws(char(10), summary, product_name, product_version, cve_id, root_cause,
    mitigation, user_guidance) from cra_report
  union all
  select tenant_id, id, name, concat_ws(char(10), parent, sector, country, region, lei) from provider;

-- The index follows each write in its transaction.
create trigger search_entry_added after insert on search_entry begin
  insert into search_index (rowid, title, body)
    select new.number, terms(tenant_id, title), terms(tenant_id, body) from search_text
    where tenant_id = new.tenant_id and id = new.id;
end;

create trigger search_entry_touched after update on search_entry begin
  update search_index set (title, body) =
    (select terms(tenant_id, title), terms(tenant_id, body) from search_text
     where tenant_id = new.tenant_id and id = new.id)
    where rowid = new.number;
end;

create trigger search_entry_removed after delete on search_entry begin
  delete from search_index where rowid = old.number;
end;

create trigger programme_found after insert on programme begin
  insert into search_entry
    values (new.tenant_id, new.id, (select coalesce(max(number), 0) + 1 from search_entry));
end;

create trigger programme_reworded after update on programme
when (old.name, old.description, old.owner)
  is not (new.name, new.description, new.owner) begin
  update search_entry set id = new.id where tenant_id = new.tenant_id and id = new.id;
end;

create trigger programme_lost after delete on programme begin
  delete from search_entry where tenant_id = old.tenant_id and id = old.id;
end;

create trigger test_case_found after insert on test_case begin
  insert into search_entry
    values (new.tenant_id, new.id, (select coalesce(max(number), 0) + 1 from search_entry));
end;

create trigger test_case_reworded after update on test_case
when (old.title, old.description, old.result_summary, old.assignee)
  is not (new.title, new.description, new.result_summary, new.assignee) begin
  update search_entry set id = new.id where tenant_id = new.tenant_id and id = new.id;
end;

create trigger test_case_lost after delete on test_case begin
  delete from search_entry where tenant_id = old.tenant_id and id = old.id;
end;

create trigger finding_found after insert on finding begin
  insert into search_entry
    values (new.tenant_id, new.id, (select coalesce(max(number), 0) + 1 from search_entry));
end;

create trigger finding_reworded after update on finding
when (old.title, old.description, old.remediation, old.owner)
  is not (new.title, new.description, new.remediation, new.owner) begin
  update search_entry set id = new.id where tenant_id = new.tenant_id and id = new.id;
end;

create trigger finding_lost after delete on finding begin
  delete from search_entry where tenant_id = old.tenant_id and id = old.id;
end;

create trigger cra_report_found after insert on cra_report begin
  insert into search_entry
    values (new.tenant_id, new.id, (select coalesce(max(number), 0) + 1 from search_entry));
end;

create trigger cra_report_reworded after update on cra_report
when (old.title, old.summary, old.product_name, old.product_version, old.cve_id, old.root_cause, old.mitigation,
    old.user_guidance)
  is not (new.title, new.summary, new.product_name, new.product_version, new.cve_id, new.root_cause, new.mitigation,
    new.user_guidance) begin
  update search_entry set id = new.id where tenant_id = new.tenant_id and id = new.id;
end;

create trigger cra_report_lost after delete on cra_report begin
  delete from search_entry where tenant_id = old.tenant_id and id = old.id;
end;

create trigger provider_found after insert on provider begin
  insert into search_entry
    values (new.tenant_id, new.id, (select coalesce(max(number), 0) + 1 from search_entry));
end;

create trigger provider_reworded after update on provider
when (old.name, old.parent, old.sector, old.country, old.region, old.lei)
  is not (new.name, new.parent, new.sector, new.country, new.region, new.lei) begin
  update search_entry set id = new.id where tenant_id = new.tenant_id and id = new.id;
end;

create trigger provider_lost after delete on provider begin
  delete from search_entry where tenant_id = old.tenant_id and id = old.id;
end;

-- Work that is not finished, by the day on which it is due.
create index finding_deadline on finding (tenant_id, due_on, severity, detected_on, status)
  where status in ('open', 'in_progress', 'resolved');
create index finding_programme_open on finding (tenant_id, programme_id, due_on, status)
  where status in ('open', 'in_progress', 'resolved');
create index test_case_deadline on test_case (tenant_id, due_on) where status in ('planned', 'in_progress', 'blocked');

-- How the service was, once a minute. checks is a JSON object.
create table health_sample (
  at     integer not null primary key,
  status text    not null check (status in ('ok', 'degraded', 'down')),
  checks text    not null
) strict, without rowid;

-- A run of a job; of each job the newest are kept.
create table job_run (
  job         text    not null,
  started_at  integer not null,
  duration_ms integer not null,
  outcome     text    not null check (outcome in ('ok', 'failed', 'panicked', 'stuck')),
  primary key (job, started_at)
) strict, without rowid;

-- How often a rule of the auto-heal has healed something, and when last.
create table heal (
  rule           text    not null primary key,
  heal_count     integer not null,
  last_healed_at integer not null
) strict, without rowid;

-- The language of a person's pages; null as the browser says.
alter table user_account add column language text check (language in ('en', 'de'));
