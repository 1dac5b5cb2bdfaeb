import type { Migration } from './migration.ts';

/**
 * Sessions store the identity of their visitor, and audit entries its key. Existing sessions get the identity that
 * their user or login profile has now, so that no visitor has to sign in again. Earlier audit entries have no key and
 * are grouped by name.
 */
export const sessionIdentities: Migration = {
  name: '0014-session-identities',
  statements({ engine, text }) {
    const [object, array] = engine === 'sqlite' ? ['json_object', 'json_array'] : ['json_build_object', 'json_build_array'];
    const identity = (id: string, email: string) => `CAST(${object}('subject', CAST(${id} AS TEXT), 'name', username, 'email', ${email},
      'names', ${array}(username), 'groups', ${array}(), 'claimsAt', visit_session.created_at) AS TEXT)`;
    return [
      `ALTER TABLE visit_session ADD COLUMN identity ${text}`,
      `UPDATE visit_session SET identity = (SELECT ${identity('access_user.id', 'email')} FROM access_user
        WHERE access_user.tid = visit_session.tid AND access_user.id = visit_session.user_id) WHERE user_id IS NOT NULL`,
      `UPDATE visit_session SET identity = (SELECT ${identity('login_profile.id', "''")} FROM login_profile
        WHERE login_profile.tid = visit_session.tid AND login_profile.id = visit_session.profile_id) WHERE user_id IS NULL`,
      `ALTER TABLE audit ADD COLUMN identity_key ${text}`,
    ];
  },
};
