import type { ColumnTypes, Migration } from './migration.ts';

const owned = ({ integer: int, text }: ColumnTypes) => `
  tid ${int} NOT NULL REFERENCES tenant(id),
  version ${int} NOT NULL,
  created_owner ${text} NOT NULL,
  updated_owner ${text} NOT NULL,
  created_at ${int} NOT NULL,
  updated_at ${int} NOT NULL`;

const toDefault = 'REFERENCES login_profile(id) DEFERRABLE INITIALLY DEFERRED';

function tenants(types: ColumnTypes) {
  const { identity, integer: int, text } = types;
  return [
    `CREATE TABLE process (name ${text} NOT NULL PRIMARY KEY, seen_at ${int} NOT NULL)`,
    `CREATE TABLE secret_key (fingerprint ${text} NOT NULL PRIMARY KEY)`,
    `CREATE TABLE tenant (
      id ${identity}, title ${text} NOT NULL,
      default_profile_id ${int}${types.engine === 'sqlite' ? ` ${toDefault}` : ''}, created_at ${int} NOT NULL)`,
    `CREATE TABLE login_profile (
      id ${identity}, ${owned(types)}, title ${text} NOT NULL, description ${text} NOT NULL, ip_range ${text} NOT NULL,
      type_id ${int} NOT NULL, view_id ${text} NOT NULL, username ${text} NOT NULL, username_key ${text} NOT NULL, password ${text} NOT NULL, lang ${text} NOT NULL,
      startup_message ${text} NOT NULL, configuration ${text} NOT NULL, session_epoch ${int} NOT NULL, search_text ${text} NOT NULL)`,
    // A tenant and its profile name each other; PostgreSQL takes the second reference only once both tables are there.
    ...(types.engine === 'sqlite' ? [] : [`ALTER TABLE tenant ADD FOREIGN KEY (default_profile_id) ${toDefault}`]),
    'CREATE INDEX login_profile_tid ON login_profile(tid, id)',
    `CREATE TABLE access_user (
      id ${identity}, ${owned(types)}, profile_id ${int} NOT NULL REFERENCES login_profile(id), username ${text} NOT NULL,
      username_key ${text} NOT NULL, first_name ${text} NOT NULL, last_name ${text} NOT NULL, email ${text} NOT NULL, email_key ${text} NOT NULL,
      password_hash ${text}, active ${int} NOT NULL, session_epoch ${int} NOT NULL, search_text ${text} NOT NULL,
      UNIQUE (profile_id, username_key))`,
    'CREATE INDEX access_user_tid ON access_user(tid, id)',
    'CREATE INDEX access_user_name ON access_user(tid, username_key)',
    'CREATE INDEX access_user_email ON access_user(profile_id, email_key)',
    `CREATE TABLE location (
      id ${identity}, ${owned(types)}, name ${text} NOT NULL, kind ${text} NOT NULL, configuration ${text} NOT NULL,
      search_text ${text} NOT NULL, UNIQUE (tid, name))`,
  ];
}

const flags = [
  'can_delete can_upload can_create_folder can_download can_download_folder can_view can_rename',
  'alert_delete alert_upload alert_create_folder alert_download alert_view alert_rename',
  'copy_protect digital_signature allow_all_users proxy_mode folder active',
].flatMap((row) => row.split(' '));

function shares(types: ColumnTypes) {
  const { identity, integer: int, text } = types;
  return [
    `CREATE TABLE share (
      id ${identity}, ${owned(types)}, title ${text} NOT NULL, location_id ${int} NOT NULL REFERENCES location(id), path ${text} NOT NULL,
      path_key ${text} NOT NULL, profile_id ${int} NOT NULL REFERENCES login_profile(id), view_id ${text} NOT NULL,
      notify_emails ${text} NOT NULL, description ${text} NOT NULL, startup_message ${text} NOT NULL, water_mark_text ${text} NOT NULL,
      digital_sign_reason ${text} NOT NULL, valid_from ${int}, valid_to ${int}, search_text ${text} NOT NULL,
      ${flags.map((flag) => `${flag} ${int} NOT NULL CHECK (${flag} IN (0, 1))`).join(', ')})`,
    'CREATE UNIQUE INDEX share_view ON share(view_id)',
    'CREATE INDEX share_tid ON share(tid, id)',
    'CREATE INDEX share_path ON share(tid, path_key, id)',
    'CREATE INDEX share_profile ON share(profile_id, id)',
    'CREATE INDEX share_location ON share(location_id)',
    `CREATE TABLE share_user (
      share_id ${int} NOT NULL REFERENCES share(id) ON DELETE CASCADE, position ${int} NOT NULL, name ${text} NOT NULL,
      name_key ${text} NOT NULL, user_id ${int} REFERENCES access_user(id) ON DELETE CASCADE, PRIMARY KEY (share_id, name_key))`,
    'CREATE INDEX share_user_user ON share_user(user_id)',
    `CREATE TABLE share_group (
      share_id ${int} NOT NULL REFERENCES share(id) ON DELETE CASCADE, position ${int} NOT NULL, name ${text} NOT NULL,
      name_key ${text} NOT NULL, PRIMARY KEY (share_id, name_key))`,
    `CREATE TABLE link (
      view_key ${text} PRIMARY KEY, tid ${int} NOT NULL REFERENCES tenant(id),
      share_id ${int} REFERENCES share(id) ON DELETE SET NULL, profile_id ${int} REFERENCES login_profile(id) ON DELETE SET NULL)`,
    'CREATE INDEX link_share ON link(share_id)',
    'CREATE INDEX link_profile ON link(profile_id)',
  ];
}

function callers({ identity, integer: int, text }: ColumnTypes) {
  return [
    `CREATE TABLE api_key (
      id ${identity}, tid ${int} NOT NULL REFERENCES tenant(id), version ${int} NOT NULL, name ${text} NOT NULL, role ${text} NOT NULL,
      hash ${text} NOT NULL UNIQUE, first_characters ${text} NOT NULL, expires_at ${int}, last_used_at ${int},
      created_owner ${text} NOT NULL, created_at ${int} NOT NULL)`,
    'CREATE INDEX api_key_name ON api_key(tid, name)',
    `CREATE TABLE api_token (
      hash ${text} PRIMARY KEY, key_id ${int} NOT NULL REFERENCES api_key(id) ON DELETE CASCADE, expires_at ${int} NOT NULL)`,
    'CREATE INDEX api_token_key ON api_token(key_id)',
    `CREATE TABLE idempotency (
      caller ${text} NOT NULL, key ${text} NOT NULL, fingerprint ${text} NOT NULL, status ${int} NOT NULL, answer ${text} NOT NULL,
      created_at ${int} NOT NULL, PRIMARY KEY (caller, key))`,
    'CREATE INDEX idempotency_age ON idempotency(created_at)',
    `CREATE TABLE visit_session (
      hash ${text} PRIMARY KEY, profile_id ${int} NOT NULL REFERENCES login_profile(id) ON DELETE CASCADE, profile_epoch ${int} NOT NULL,
      user_id ${int} REFERENCES access_user(id) ON DELETE CASCADE, user_epoch ${int}, name ${text} NOT NULL,
      created_at ${int} NOT NULL, used_at ${int} NOT NULL)`,
    'CREATE INDEX visit_session_profile ON visit_session(profile_id)',
    'CREATE INDEX visit_session_user ON visit_session(user_id)',
    'CREATE INDEX visit_session_age ON visit_session(created_at)',
    `CREATE TABLE failure (id ${identity}, key ${text} NOT NULL, at ${int} NOT NULL)`,
    'CREATE INDEX failure_key ON failure(key, at)',
    'CREATE INDEX failure_age ON failure(at)',
  ];
}

function trail({ identity, integer: int, text }: ColumnTypes) {
  return [
    `CREATE TABLE audit (
      id ${identity}, tid ${int} NOT NULL, at ${int} NOT NULL, actor ${text} NOT NULL, actor_kind ${text} NOT NULL, address ${text} NOT NULL,
      action ${text} NOT NULL, outcome ${text} NOT NULL, share_id ${int}, share_title ${text} NOT NULL, view_id ${text} NOT NULL,
      path ${text} NOT NULL, bytes ${int}, before ${text}, after ${text}, request_id ${text} NOT NULL, count ${int} NOT NULL, search_text ${text} NOT NULL, process ${text})`,
    'CREATE INDEX audit_tid ON audit(tid, at, id)',
    'CREATE INDEX audit_share ON audit(share_id, at)',
    'CREATE INDEX audit_age ON audit(at)',
    "CREATE INDEX audit_begun ON audit(id) WHERE outcome = 'begun'",
    `CREATE TABLE ongoing (
      key ${text} PRIMARY KEY, audit_id ${int} NOT NULL REFERENCES audit(id) ON DELETE CASCADE, until ${int} NOT NULL)`,
    'CREATE INDEX ongoing_age ON ongoing(until)',
    'CREATE INDEX ongoing_audit ON ongoing(audit_id)',
    `CREATE TABLE alert (
      id ${identity}, tid ${int} NOT NULL, share_id ${int} NOT NULL, audit_id ${int} NOT NULL, action ${text} NOT NULL,
      emails ${text} NOT NULL, created_at ${int} NOT NULL)`,
    `CREATE TABLE unsettled (
      audit_id ${int} PRIMARY KEY REFERENCES audit(id) ON DELETE CASCADE, location_id ${int} NOT NULL,
      parent ${text} NOT NULL, name ${text} NOT NULL, new_name ${text} NOT NULL, token ${text} NOT NULL, process ${text} NOT NULL)`,
  ];
}

/** What a user who goes takes along: their name in every share that lists it, which is a change of that share. */
function departures({ engine }: ColumnTypes) {
  const raise = 'UPDATE share SET version = version + 1 WHERE id IN (SELECT share_id FROM share_user WHERE user_id = OLD.id)';
  const leave = 'DELETE FROM share_user WHERE user_id = OLD.id; DELETE FROM visit_session WHERE user_id = OLD.id';
  const onDelete = 'TRIGGER access_user_deleted BEFORE DELETE ON access_user';
  const onMove = 'TRIGGER access_user_moved BEFORE UPDATE OF profile_id ON access_user';
  const moved = 'WHEN (OLD.profile_id <> NEW.profile_id)';
  if (engine === 'sqlite') return [`CREATE ${onDelete} BEGIN ${raise}; END`, `CREATE ${onMove} ${moved} BEGIN ${raise}; ${leave}; END`];
  const does = (name: string, body: string, row: 'OLD' | 'NEW') =>
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN ${row}; END $$`;
  return [
    does('access_user_deletes', raise, 'OLD'),
    does('access_user_moves', `${raise}; ${leave}`, 'NEW'),
    `CREATE ${onDelete} FOR EACH ROW EXECUTE FUNCTION access_user_deletes()`,
    `CREATE ${onMove} FOR EACH ROW ${moved} EXECUTE FUNCTION access_user_moves()`,
  ];
}

export const first: Migration = {
  name: '0001-first',
  statements: (types) => [tenants, shares, callers, trail, departures].flatMap((part) => part(types)),
};
