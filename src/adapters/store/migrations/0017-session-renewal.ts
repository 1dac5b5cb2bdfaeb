import type { Migration } from './migration.ts';

/** Adds to a session: the data for its renewal, the end of the lease of a running renewal, and the provider's ids of session and user. */
export const sessionRenewal: Migration = {
  name: '0017-session-renewal',
  statements: ({ integer, text }) => [
    `ALTER TABLE visit_session ADD COLUMN renewal ${text}`,
    `ALTER TABLE visit_session ADD COLUMN renewing_until ${integer}`,
    `ALTER TABLE visit_session ADD COLUMN provider_session ${text}`,
    `ALTER TABLE visit_session ADD COLUMN provider_subject ${text}`,
    'CREATE INDEX visit_session_subject ON visit_session(tid, profile_id, provider_subject) WHERE provider_subject IS NOT NULL',
  ],
};
