-- The whole schema of a Holdfast database, version 1.
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
