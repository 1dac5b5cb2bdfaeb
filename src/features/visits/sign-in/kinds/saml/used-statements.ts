import { sha256 } from '#features/records/sha256.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import type { SamlStatement } from '#ports/saml.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';

const purpose = 'parked SAML statement';

/** Returns the key of a statement: the hash of its ID, because the provider chooses the ID and may make it very long. */
export const statementKey = ({ id }: Pick<SamlStatement, 'id'>): string => sha256(id);

/**
 * Inserts a statement.
 * @param parked the encrypted statement; null: the statement is used in this transaction
 * @returns false if the statement is already stored
 */
async function insertStatement(tx: Tx, profile: ProfileRef, statement: SamlStatement, parked: string | null): Promise<boolean> {
  const insertedRow = await tx
    .insertInto('used_statement')
    .values({
      tid: profile.tid,
      profile_id: profile.profile_id,
      statement_key: statementKey(statement),
      until: statement.usedUntil,
      parked,
    })
    .onConflict((row) => row.columns(['tid', 'profile_id', 'statement_key']).doNothing())
    .returning('statement_key')
    .executeTakeFirst();
  return insertedRow !== undefined;
}

/** Marks a statement as used, in the transaction that begins its session, or after a test. @returns false if it is already stored */
export const markStatementUsed = (tx: Tx, profile: ProfileRef, statement: SamlStatement): Promise<boolean> =>
  insertStatement(tx, profile, statement, null);

/** Parks a statement, encrypted, until the next request of the browser that sent it. @returns false if it was used or stored before */
export const parkStatement = (
  { store, vault }: Pick<Ports, 'store' | 'vault'>,
  profile: ProfileRef,
  statement: SamlStatement,
  address: string,
): Promise<boolean> =>
  store.write((tx) => insertStatement(tx, profile, statement, vault.seal(purpose, JSON.stringify(statement))), visitorTurn(address));

/** Returns a parked statement, or null if it is unknown, was used, or is too old. */
export async function readParkedStatement(
  { store, vault, clock }: Pick<Ports, 'store' | 'vault' | 'clock'>,
  { tid, profile_id }: ProfileRef,
  key: string,
): Promise<SamlStatement | null> {
  const row = await store.read
    .selectFrom('used_statement')
    .select('parked')
    .where('tid', '=', tid)
    .where('profile_id', '=', profile_id)
    .where('statement_key', '=', key)
    .where('until', '>', clock.now())
    .executeTakeFirst();
  return row?.parked ? JSON.parse(vault.open(purpose, row.parked)) : null;
}

/**
 * Marks a parked statement as used, in the transaction that begins its session, or after a test.
 * @returns false if it was used or is gone
 */
export async function markParkedStatementUsed(tx: Tx, { tid, profile_id }: ProfileRef, key: string): Promise<boolean> {
  const result = await tx
    .updateTable('used_statement')
    .set({ parked: null })
    .where('tid', '=', tid)
    .where('profile_id', '=', profile_id)
    .where('statement_key', '=', key)
    .where('parked', 'is not', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
