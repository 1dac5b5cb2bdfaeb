import type { ColumnTypes, Migration } from './migration.ts';

const owned = (int: string) => `
  tid ${int} NOT NULL REFERENCES tenant(id),
  version ${int} NOT NULL,
  created_owner TEXT NOT NULL,
  updated_owner TEXT NOT NULL,
  created_at ${int} NOT NULL,
  updated_at ${int} NOT NULL`;

function tenants({ identity, integer: int }: ColumnTypes) {
  return [
    `CREATE TABLE tenant (
      id ${identity}, title TEXT NOT NULL,
      default_profile_id ${int} REFERENCES login_profile(id) DEFERRABLE INITIALLY DEFERRED, created_at ${int} NOT NULL)`,
    `CREATE TABLE login_profile (
      id ${identity}, ${owned(int)}, title TEXT NOT NULL, description TEXT NOT NULL, ip_range TEXT NOT NULL,
      type_id ${int} NOT NULL, view_id TEXT NOT NULL, username TEXT NOT NULL, username_key TEXT NOT NULL, password TEXT NOT NULL, lang TEXT NOT NULL,
      startup_message TEXT NOT NULL, configuration TEXT NOT NULL, session_epoch ${int} NOT NULL, search_text TEXT NOT NULL)`,
    'CREATE INDEX login_profile_tid ON login_profile(tid, id)',
    `CREATE TABLE access_user (
      id ${identity}, ${owned(int)}, profile_id ${int} NOT NULL REFERENCES login_profile(id), username TEXT NOT NULL,
      username_key TEXT NOT NULL, first_name TEXT NOT NULL, last_name TEXT NOT NULL, email TEXT NOT NULL, email_key TEXT NOT NULL,
      password_hash TEXT, active ${int} NOT NULL, session_epoch ${int} NOT NULL, search_text TEXT NOT NULL,
      UNIQUE (profile_id, username_key))`,
    'CREATE INDEX access_user_tid ON access_user(tid, id)',
    'CREATE INDEX access_user_name ON access_user(tid, username_key)',
    'CREATE INDEX access_user_email ON access_user(profile_id, email_key)',
    `CREATE TABLE location (
      id ${identity}, ${owned(int)}, name TEXT NOT NULL, kind TEXT NOT NULL, configuration TEXT NOT NULL,
      search_text TEXT NOT NULL, UNIQUE (tid, name))`,
  ];
}

const flags = [
  'can_delete can_upload can_create_folder can_download can_download_folder can_view can_rename',
  'alert_delete alert_upload alert_create_folder alert_download alert_view alert_rename',
  'copy_protect digital_signature allow_all_users proxy_mode folder active',
].flatMap((row) => row.split(' '));

function shares({ identity, integer: int }: ColumnTypes) {
  return [
    `CREATE TABLE share (
      id ${identity}, ${owned(int)}, title TEXT NOT NULL, location_id ${int} NOT NULL REFERENCES location(id), path TEXT NOT NULL,
      path_key TEXT NOT NULL, profile_id ${int} NOT NULL REFERENCES login_profile(id), view_id TEXT NOT NULL,
      notify_emails TEXT NOT NULL, description TEXT NOT NULL, startup_message TEXT NOT NULL, water_mark_text TEXT NOT NULL,
      digital_sign_reason TEXT NOT NULL, valid_from ${int}, valid_to ${int}, search_text TEXT NOT NULL,
      ${flags.map((flag) => `${flag} ${int} NOT NULL CHECK (${flag} IN (0, 1))`).join(', ')})`,
    'CREATE UNIQUE INDEX share_view ON share(view_id)',
    'CREATE INDEX share_tid ON share(tid, id)',
    'CREATE INDEX share_path ON share(tid, path_key, id)',
    'CREATE INDEX share_profile ON share(profile_id, id)',
    'CREATE INDEX share_location ON share(location_id)',
    `CREATE TABLE share_user (
      share_id ${int} NOT NULL REFERENCES share(id) ON DELETE CASCADE, position ${int} NOT NULL, name TEXT NOT NULL,
      name_key TEXT NOT NULL, user_id ${int} REFERENCES access_user(id) ON DELETE CASCADE, PRIMARY KEY (share_id, name_key))`,
    'CREATE INDEX share_user_user ON share_user(user_id)',
    `CREATE TABLE share_group (
      share_id ${int} NOT NULL REFERENCES share(id) ON DELETE CASCADE, position ${int} NOT NULL, name TEXT NOT NULL,
      name_key TEXT NOT NULL, PRIMARY KEY (share_id, name_key))`,
    `CREATE TABLE link (
      view_key TEXT PRIMARY KEY, tid ${int} NOT NULL REFERENCES tenant(id),
      share_id ${int} REFERENCES share(id) ON DELETE SET NULL, profile_id ${int} REFERENCES login_profile(id) ON DELETE SET NULL)`,
    'CREATE INDEX link_share ON link(share_id)',
    'CREATE INDEX link_profile ON link(profile_id)',
  ];
}

function callers({ identity, integer: int }: ColumnTypes) {
  return [
    `CREATE TABLE api_key (
      id ${identity}, tid ${int} NOT NULL REFERENCES tenant(id), version ${int} NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE, first_characters TEXT NOT NULL, expires_at ${int}, last_used_at ${int},
      created_owner TEXT NOT NULL, created_at ${int} NOT NULL)`,
    'CREATE INDEX api_key_name ON api_key(tid, name)',
    `CREATE TABLE api_token (
      hash TEXT PRIMARY KEY, key_id ${int} NOT NULL REFERENCES api_key(id) ON DELETE CASCADE, expires_at ${int} NOT NULL)`,
    'CREATE INDEX api_token_key ON api_token(key_id)',
    `CREATE TABLE idempotency (
      caller TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, status ${int} NOT NULL, answer TEXT NOT NULL,
      created_at ${int} NOT NULL, PRIMARY KEY (caller, key))`,
    'CREATE INDEX idempotency_age ON idempotency(created_at)',
    `CREATE TABLE visit_session (
      hash TEXT PRIMARY KEY, profile_id ${int} NOT NULL REFERENCES login_profile(id) ON DELETE CASCADE, profile_epoch ${int} NOT NULL,
      user_id ${int} REFERENCES access_user(id) ON DELETE CASCADE, user_epoch ${int}, name TEXT NOT NULL,
      created_at ${int} NOT NULL, used_at ${int} NOT NULL)`,
    'CREATE INDEX visit_session_profile ON visit_session(profile_id)',
    'CREATE INDEX visit_session_user ON visit_session(user_id)',
    'CREATE INDEX visit_session_age ON visit_session(created_at)',
    `CREATE TABLE failure (id ${identity}, key TEXT NOT NULL, at ${int} NOT NULL)`,
    'CREATE INDEX failure_key ON failure(key, at)',
    'CREATE INDEX failure_age ON failure(at)',
  ];
}

function trail({ identity, integer: int }: ColumnTypes) {
  return [
    `CREATE TABLE audit (
      id ${identity}, tid ${int} NOT NULL, at ${int} NOT NULL, actor TEXT NOT NULL, actor_kind TEXT NOT NULL, address TEXT NOT NULL,
      action TEXT NOT NULL, outcome TEXT NOT NULL, share_id ${int}, share_title TEXT NOT NULL, view_id TEXT NOT NULL,
      path TEXT NOT NULL, bytes ${int}, before TEXT, after TEXT, request_id TEXT NOT NULL, count ${int} NOT NULL, search_text TEXT NOT NULL)`,
    'CREATE INDEX audit_tid ON audit(tid, at, id)',
    'CREATE INDEX audit_share ON audit(share_id, at)',
    'CREATE INDEX audit_age ON audit(at)',
    "CREATE INDEX audit_begun ON audit(id) WHERE outcome = 'begun'",
    `CREATE TABLE ongoing (
      key TEXT PRIMARY KEY, audit_id ${int} NOT NULL REFERENCES audit(id) ON DELETE CASCADE, until ${int} NOT NULL)`,
    'CREATE INDEX ongoing_age ON ongoing(until)',
    'CREATE INDEX ongoing_audit ON ongoing(audit_id)',
    `CREATE TABLE alert (
      id ${identity}, tid ${int} NOT NULL, share_id ${int} NOT NULL, audit_id ${int} NOT NULL, action TEXT NOT NULL,
      emails TEXT NOT NULL, created_at ${int} NOT NULL)`,
    `CREATE TABLE unsettled (
      audit_id ${int} PRIMARY KEY REFERENCES audit(id) ON DELETE CASCADE, location_id ${int} NOT NULL,
      parent TEXT NOT NULL, name TEXT NOT NULL, new_name TEXT NOT NULL, token TEXT NOT NULL)`,
  ];
}

/** What a user who goes takes along: their name in every share that lists it, which is a change of that share. */
function departures() {
  const listedIn = '(SELECT share_id FROM share_user WHERE user_id = OLD.id)';
  return [
    `CREATE TRIGGER access_user_deleted BEFORE DELETE ON access_user BEGIN
      UPDATE share SET version = version + 1 WHERE id IN ${listedIn};
    END`,
    `CREATE TRIGGER access_user_moved BEFORE UPDATE OF profile_id ON access_user WHEN OLD.profile_id <> NEW.profile_id BEGIN
      UPDATE share SET version = version + 1 WHERE id IN ${listedIn};
      DELETE FROM share_user WHERE user_id = OLD.id;
      DELETE FROM visit_session WHERE user_id = OLD.id;
    END`,
  ];
}

export const first: Migration = {
  name: '0001-first',
  statements: (types) => [tenants, shares, callers, trail, departures].flatMap((part) => part(types)),
};
