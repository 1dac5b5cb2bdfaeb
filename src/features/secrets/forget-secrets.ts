import { typeNameOf } from '#core/records/login-profile.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { sealConfiguration } from '#features/storage-access/open-location.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';

const none = '{}'; // names no folder and no service: the location is away until its configuration is entered
const own = JSON.stringify({ folder: 'files' });

const profilesWithSecrets = (db: Tx) =>
  db
    .selectFrom('login_profile')
    .select(['tid', 'id', 'title', 'type_id', 'password', 'configuration'])
    .where(({ or, eb }) => or([eb('password', '!=', ''), eb('configuration', '!=', '')]))
    .orderBy('tid')
    .orderBy('id')
    .execute();

const locations = (db: Tx) => db.selectFrom('location').select(['tid', 'id', 'name', 'kind']).orderBy('tid').orderBy('id').execute();

const isFirst = ({ tid, name, kind }: { tid: number; name: string; kind: string }) =>
  tid === firstTenant && name === 'local' && kind === 'local';

/** Says, a line each, what must be entered anew once the secrets are forgotten. */
export async function secretsToEnter(db: Tx): Promise<string[]> {
  const profiles = (await profilesWithSecrets(db)).map(
    ({ tid, id, title, type_id, password }) =>
      `tenant ${tid}, login profile ${id} "${title}" (${typeNameOf(type_id)}): its ${password === '' ? 'configuration' : 'password'}; until then nobody signs in by it`,
  );
  const places = (await locations(db)).map(
    ({ tid, id, name, kind }) =>
      `tenant ${tid}, location ${id} "${name}" (${kind}): its configuration; until then its shares are answered 503`,
  );
  return [...profiles, ...places];
}

/** Gives up every secret that was sealed with a lost key, so that a start with a new key succeeds. */
export async function forgetSecrets(tx: Tx, vault: Vault): Promise<void> {
  for (const { tid, id } of await profilesWithSecrets(tx))
    await tx
      .updateTable('login_profile')
      .set((row) => ({ password: '', configuration: '', session_epoch: row('session_epoch', '+', 1), version: row('version', '+', 1) }))
      .where('tid', '=', tid)
      .where('id', '=', id)
      .execute();
  for (const location of await locations(tx))
    await tx
      .updateTable('location')
      .set((row) => ({ configuration: sealConfiguration(isFirst(location) ? own : none, vault), version: row('version', '+', 1) }))
      .where('tid', '=', location.tid)
      .where('id', '=', location.id)
      .execute();
  await tx.deleteFrom('idempotency').execute(); // answers to repeated requests are sealed too
  await tx.deleteFrom('secret_key').execute();
  await tx.insertInto('secret_key').values({ fingerprint: vault.fingerprint }).execute();
}
