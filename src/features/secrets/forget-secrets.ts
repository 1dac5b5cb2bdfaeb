import { profileTypeName, profileTypes } from '#core/records/login-profile.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { lostConfiguration, sealConfiguration } from '#features/storage-access/open-location.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';
import { deleteCodes } from './delete-codes.ts';

const localConfiguration = JSON.stringify({ folder: 'files' });

const selectProfilesWithSecrets = (db: Tx) =>
  db
    .selectFrom('login_profile')
    .select(['tid', 'id', 'title', 'type_id', 'password', 'configuration'])
    .where(({ or, eb }) => or([eb('password', '!=', ''), eb('configuration', '!=', '')]))
    .orderBy('tid')
    .orderBy('id')
    .execute();

const selectLocations = (db: Tx) => db.selectFrom('location').select(['tid', 'id', 'name', 'kind']).orderBy('tid').orderBy('id').execute();

const isFirstLocation = ({ tid, name, kind }: { tid: number; name: string; kind: string }) =>
  tid === firstTenant && name === 'local' && kind === 'local';

/** Returns one line for each login profile, location and certificate that `forgetSecrets` changes: what an operator must enter again. */
export async function secretsToEnter(db: Tx): Promise<string[]> {
  const profileLines = (await selectProfilesWithSecrets(db)).map(
    ({ tid, id, title, type_id, password }) =>
      `tenant ${tid}, login profile ${id} "${title}" (${profileTypeName(type_id)}): enter its ${password === '' ? 'configuration' : 'password'} again; until then ${type_id === profileTypes.EMAIL_CODE ? 'only its access users' : 'nobody'} can sign in with it`,
  );
  const locationLines = (await selectLocations(db)).map((location) => {
    const { tid, id, name, kind } = location;
    const next = isFirstLocation(location)
      ? 'its folder becomes POSTERN_DATA/files; enter its configuration again only if that was another folder'
      : 'enter its configuration again; until then requests to its shares fail with 503';
    return `tenant ${tid}, location ${id} "${name}" (${kind}): ${next}`;
  });
  const signatures = await db
    .selectFrom('signature')
    .select('tid')
    .where('token_key_id', '=', '') // the key is stored, not in a token
    .orderBy('tid')
    .execute();
  const signatureLines = signatures.map(
    ({ tid }) => `tenant ${tid}, certificate for digital signatures: enter it again; until then PDF files that must be signed get 503`,
  );
  return [...profileLines, ...locationLines, ...signatureLines];
}

/**
 * Deletes or replaces what was encrypted with a lost key, so that Postern can start with a new key. Parked SAML statements and the renewals
 * of ended sessions stay: nothing reads them any more.
 */
export async function forgetSecrets(tx: Tx, vault: Vault): Promise<void> {
  for (const { tid, id } of await selectProfilesWithSecrets(tx))
    await tx
      .updateTable('login_profile')
      .set((row) => ({ password: '', configuration: '', session_epoch: row('session_epoch', '+', 1), version: row('version', '+', 1) }))
      .where('tid', '=', tid)
      .where('id', '=', id)
      .execute();
  for (const location of await selectLocations(tx))
    await tx
      .updateTable('location')
      .set((row) => ({
        configuration: sealConfiguration(isFirstLocation(location) ? localConfiguration : lostConfiguration, vault),
        version: row('version', '+', 1),
      }))
      .where('tid', '=', location.tid)
      .where('id', '=', location.id)
      .execute();
  await tx.updateTable('signature').set({ private_key: '' }).execute();
  await tx.deleteFrom('second_factor').execute();
  await tx.deleteFrom('recovery_code').execute();
  await deleteCodes(tx); // a mail that cannot be decrypted would stop the mails with new codes
  await tx.deleteFrom('idempotency').execute(); // stored responses are encrypted with the lost key
  await tx.deleteFrom('secret_key').execute();
  await tx.insertInto('secret_key').values({ fingerprint: vault.fingerprint }).execute();
}
