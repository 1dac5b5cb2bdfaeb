import { countTriggers } from './count-triggers.ts';
import type { ColumnTypes, Migration } from './migration.ts';
import { createTriggerStatements } from './trigger.ts';

// On PostgreSQL, every key of a table of tenants' records begins with the id of the tenant, so that rows can be distributed by tenant
// (docs/operator/scale.md). Exception: a table in which a viewId or a secret is searched before the tenant is known.
const ofTenant = ({ integer: int }: ColumnTypes) => `tid ${int} NOT NULL REFERENCES tenant(id)`;

const owned = ({ integer: int, text }: ColumnTypes) => `
  version ${int} NOT NULL,
  created_owner ${text} NOT NULL,
  updated_owner ${text} NOT NULL,
  created_at ${int} NOT NULL,
  updated_at ${int} NOT NULL`;

const record = (types: ColumnTypes) => `id ${types.tenantIdentity}, ${ofTenant(types)}, ${owned(types)}`;

function tenants(types: ColumnTypes) {
  const { identity, integer: int, text, tenantKey } = types;
  return [
    `CREATE TABLE process (name ${text} NOT NULL PRIMARY KEY, seen_at ${int} NOT NULL)`,
    `CREATE TABLE secret_key (fingerprint ${text} NOT NULL PRIMARY KEY)`,
    `CREATE TABLE tenant (id ${identity}, title ${text} NOT NULL, default_profile_id ${int}, created_at ${int} NOT NULL)`,
    `CREATE TABLE login_profile (
      ${record(types)}, title ${text} NOT NULL, description ${text} NOT NULL, ip_range ${text} NOT NULL,
      type_id ${int} NOT NULL, view_id ${text} NOT NULL, username ${text} NOT NULL, username_key ${text} NOT NULL, password ${text} NOT NULL, lang ${text} NOT NULL,
      startup_message ${text} NOT NULL, configuration ${text} NOT NULL, session_epoch ${int} NOT NULL, search_text ${text} NOT NULL, ${tenantKey})`,
    `CREATE TABLE access_user (
      ${record(types)}, profile_id ${int} NOT NULL, username ${text} NOT NULL,
      username_key ${text} NOT NULL, first_name ${text} NOT NULL, last_name ${text} NOT NULL, email ${text} NOT NULL, email_key ${text} NOT NULL,
      password_hash ${text}, active ${int} NOT NULL, session_epoch ${int} NOT NULL, search_text ${text} NOT NULL,
      ${tenantKey}, UNIQUE (tid, profile_id, username_key), FOREIGN KEY (tid, profile_id) REFERENCES login_profile(tid, id))`,
    'CREATE INDEX access_user_name ON access_user(tid, username_key, id)',
    'CREATE INDEX access_user_email ON access_user(tid, profile_id, email_key)',
    'CREATE INDEX access_user_created ON access_user(tid, created_at, id)',
    'CREATE INDEX access_user_updated ON access_user(tid, updated_at, id)',
    `CREATE TABLE location (
      ${record(types)}, name ${text} NOT NULL, kind ${text} NOT NULL, configuration ${text} NOT NULL,
      search_text ${text} NOT NULL, ${tenantKey}, UNIQUE (tid, name))`,
  ];
}

const flags = [
  'can_delete can_upload can_create_folder can_download can_download_folder can_view can_rename',
  'alert_delete alert_upload alert_create_folder alert_download alert_view alert_rename',
  'copy_protect digital_signature allow_all_users proxy_mode folder active',
].flatMap((row) => row.split(' '));

function shares(types: ColumnTypes) {
  const { integer: int, text, tenantKey } = types;
  const listColumns = `${ofTenant(types)}, share_id ${int} NOT NULL, position ${int} NOT NULL, name ${text} NOT NULL, name_key ${text} NOT NULL`;
  const ofShare = 'PRIMARY KEY (tid, share_id, name_key), FOREIGN KEY (tid, share_id) REFERENCES share(tid, id) ON DELETE CASCADE';
  return [
    `CREATE TABLE share (
      ${record(types)}, title ${text} NOT NULL, location_id ${int} NOT NULL, path ${text} NOT NULL,
      path_key ${text} NOT NULL, profile_id ${int} NOT NULL, view_id ${text} NOT NULL,
      notify_emails ${text} NOT NULL, description ${text} NOT NULL, startup_message ${text} NOT NULL, water_mark_text ${text} NOT NULL,
      digital_sign_reason ${text} NOT NULL, valid_from ${int}, valid_to ${int}, search_text ${text} NOT NULL,
      ${flags.map((flag) => `${flag} ${int} NOT NULL CHECK (${flag} IN (0, 1))`).join(', ')}, ${tenantKey},
      FOREIGN KEY (tid, location_id) REFERENCES location(tid, id), FOREIGN KEY (tid, profile_id) REFERENCES login_profile(tid, id))`,
    // For orders and filters of share/search, so that it does not read every row.
    'CREATE INDEX share_title ON share(tid, title, id)',
    'CREATE INDEX share_path ON share(tid, path_key, id)',
    'CREATE INDEX share_profile ON share(tid, profile_id, id)',
    'CREATE INDEX share_created ON share(tid, created_at, id)',
    'CREATE INDEX share_updated ON share(tid, updated_at, id)',
    'CREATE INDEX share_location ON share(tid, location_id)',
    `CREATE TABLE share_user (
      ${listColumns}, user_id ${int}, ${ofShare}, FOREIGN KEY (tid, user_id) REFERENCES access_user(tid, id) ON DELETE CASCADE)`,
    'CREATE INDEX share_user_user ON share_user(tid, user_id) WHERE user_id IS NOT NULL',
    `CREATE TABLE share_group (${listColumns}, ${ofShare})`,
    `CREATE TABLE link (view_key ${text} PRIMARY KEY, ${ofTenant(types)}, share_id ${int}, profile_id ${int})`,
  ];
}

/** Indexes for words within texts, by trigrams. On SQLite, sqlite/search does this instead. */
const textIndexes = ({ engine }: ColumnTypes) =>
  engine === 'sqlite'
    ? []
    : [
        'CREATE EXTENSION IF NOT EXISTS pg_trgm',
        'CREATE EXTENSION IF NOT EXISTS btree_gin',
        'CREATE INDEX share_text ON share USING gin(tid, search_text gin_trgm_ops)',
        'CREATE INDEX access_user_text ON access_user USING gin(tid, search_text gin_trgm_ops)',
      ];

function callers(types: ColumnTypes) {
  const { identity, integer: int, text } = types;
  return [
    `CREATE TABLE api_key (
      id ${identity}, ${ofTenant(types)}, version ${int} NOT NULL, name ${text} NOT NULL, role ${text} NOT NULL,
      hash ${text} NOT NULL UNIQUE, first_characters ${text} NOT NULL, expires_at ${int}, last_used_at ${int},
      created_owner ${text} NOT NULL, created_at ${int} NOT NULL)`,
    'CREATE INDEX api_key_name ON api_key(tid, name)',
    `CREATE TABLE api_token (
      hash ${text} PRIMARY KEY, key_id ${int} NOT NULL REFERENCES api_key(id) ON DELETE CASCADE, expires_at ${int} NOT NULL)`,
    'CREATE INDEX api_token_key ON api_token(key_id)',
    `CREATE TABLE idempotency (
      ${ofTenant(types)}, caller ${text} NOT NULL, key ${text} NOT NULL, fingerprint ${text} NOT NULL, status ${int} NOT NULL,
      answer ${text} NOT NULL, created_at ${int} NOT NULL, PRIMARY KEY (tid, caller, key))`,
    'CREATE INDEX idempotency_age ON idempotency(created_at)',
    `CREATE TABLE visit_session (
      ${ofTenant(types)}, hash ${text} NOT NULL, profile_id ${int} NOT NULL, profile_epoch ${int} NOT NULL,
      user_id ${int}, user_epoch ${int}, name ${text} NOT NULL, created_at ${int} NOT NULL, used_at ${int} NOT NULL,
      PRIMARY KEY (tid, hash), FOREIGN KEY (tid, profile_id) REFERENCES login_profile(tid, id) ON DELETE CASCADE,
      FOREIGN KEY (tid, user_id) REFERENCES access_user(tid, id) ON DELETE CASCADE)`,
    'CREATE INDEX visit_session_profile ON visit_session(tid, profile_id)',
    'CREATE INDEX visit_session_user ON visit_session(tid, user_id)',
    'CREATE INDEX visit_session_age ON visit_session(created_at)',
    `CREATE TABLE failure (id ${identity}, key ${text} NOT NULL, at ${int} NOT NULL)`,
    'CREATE INDEX failure_key ON failure(key, at)',
    'CREATE INDEX failure_age ON failure(at)',
  ];
}

function auditTables(types: ColumnTypes) {
  const { tenantIdentity, integer: int, text, tenantKey } = types;
  const ofAudit = `${ofTenant(types)}, audit_id ${int} NOT NULL`;
  const auditKey = 'FOREIGN KEY (tid, audit_id) REFERENCES audit(tid, id) ON DELETE CASCADE';
  return [
    `CREATE TABLE audit (
      id ${tenantIdentity}, tid ${int} NOT NULL, at ${int} NOT NULL, actor ${text} NOT NULL, actor_kind ${text} NOT NULL, address ${text} NOT NULL,
      action ${text} NOT NULL, outcome ${text} NOT NULL, share_id ${int}, share_title ${text} NOT NULL, view_id ${text} NOT NULL,
      path ${text} NOT NULL, bytes ${int}, before ${text}, after ${text}, request_id ${text} NOT NULL, count ${int} NOT NULL,
      search_text ${text} NOT NULL, process ${text}, ${tenantKey})`,
    'CREATE INDEX audit_at ON audit(tid, at, id)',
    'CREATE INDEX audit_share ON audit(tid, share_id, at)',
    'CREATE INDEX audit_age ON audit(at)',
    "CREATE INDEX audit_begun ON audit(tid, id) WHERE outcome = 'begun'",
    `CREATE TABLE ongoing (${ofAudit}, key ${text} NOT NULL, until ${int} NOT NULL, PRIMARY KEY (tid, key), ${auditKey})`,
    'CREATE INDEX ongoing_age ON ongoing(until)',
    'CREATE INDEX ongoing_audit ON ongoing(tid, audit_id)',
    `CREATE TABLE alert (
      id ${tenantIdentity}, tid ${int} NOT NULL, share_id ${int} NOT NULL, audit_id ${int} NOT NULL, action ${text} NOT NULL,
      emails ${text} NOT NULL, created_at ${int} NOT NULL, ${tenantKey})`,
    `CREATE TABLE unsettled (
      ${ofAudit}, location_id ${int} NOT NULL, parent ${text} NOT NULL, name ${text} NOT NULL, new_name ${text} NOT NULL,
      token ${text} NOT NULL, process ${text} NOT NULL, PRIMARY KEY (tid, audit_id), ${auditKey})`,
  ];
}

/**
 * Returns triggers for users that are deleted, or moved to another login profile. Both increment the versions of the shares that list a
 * user by id. The one for moved users also deletes the user's list entries and sessions. For deleted users, foreign keys do this.
 */
function userTriggers(types: ColumnTypes) {
  const ofUser = 'tid = OLD.tid AND user_id = OLD.id';
  const shareIds = `SELECT share_id FROM share_user WHERE ${ofUser}`;
  const incrementVersions = `UPDATE share SET version = version + 1 WHERE tid = OLD.tid AND id IN (${shareIds});`;
  const removeFromLists = `DELETE FROM share_user WHERE ${ofUser}; DELETE FROM visit_session WHERE ${ofUser};`;
  return [
    ...createTriggerStatements(types, 'access_user_deleted', 'BEFORE DELETE ON access_user', incrementVersions),
    ...createTriggerStatements(
      types,
      'access_user_moved',
      'BEFORE UPDATE OF profile_id ON access_user',
      incrementVersions + removeFromLists,
      'OLD.profile_id <> NEW.profile_id',
    ),
  ];
}

export const initialSchema: Migration = {
  name: '0001-first',
  statements: (types) => [tenants, shares, textIndexes, callers, auditTables, userTriggers, countTriggers].flatMap((part) => part(types)),
};
