import type { Migration } from './migration.ts';

/** Networks from which users of a directory have signed in. From other networks, only a few wrong passwords reach the directory. */
export const knownNetworks: Migration = {
  name: '0019-known-networks',
  statements: ({ integer, text }) => [
    `CREATE TABLE known_network (
      tid ${integer} NOT NULL,
      profile_id ${integer} NOT NULL,
      subject ${text} NOT NULL,
      network ${text} NOT NULL,
      seen_at ${integer} NOT NULL,
      PRIMARY KEY (tid, profile_id, subject, network)
    )`,
    'CREATE INDEX known_network_seen_at ON known_network(seen_at)',
  ],
};
