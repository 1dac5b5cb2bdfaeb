import { timingSafeEqual } from 'node:crypto';
import { failureLifetime } from '#core/authorization/sign-in-delay.ts';
import { isRecent } from '#core/is-recent.ts';
import { codeLifetime, maxCodeAttempts, maxWrongCodes, parseCode } from '#core/sign-in-codes.ts';
import { sha256 } from '#features/records/sha256.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import type { CodeCredentials, CodePlace, CompletedSignIn, ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';
import { codeMac } from './code-mac.ts';
import { findCodeRecipient } from './code-recipient.ts';

type VerifyPorts = Pick<Ports, 'store' | 'clock' | 'vault'>;

/** Returns the newest code of a browser at a link, if it can still be used. */
export async function findCode(db: Tx, profile: ProfileRef, { browser, viewId }: CodePlace, now: number) {
  const code = await db
    .selectFrom('sign_in_code')
    .selectAll()
    .where('tid', '=', profile.tid)
    .where('browser', '=', sha256(browser))
    .where('view_id', '=', viewId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (code?.profile_id !== profile.profile_id || code.profile_epoch !== profile.session_epoch) return null;
  return code.used === 0 && code.attempts < maxCodeAttempts && isRecent(code.created_at, codeLifetime, now) ? code : null;
}

/** Returns the key by which wrong codes at a profile are counted, wherever they come from. */
const wrongCodesKey = ({ profile_id }: ProfileRef) => `codes ${profile_id}`;

/** Returns how many attempts each code of a profile allows at present. */
async function findMaxAttempts(tx: Tx, profile: ProfileRef, now: number): Promise<number> {
  const recent = tx
    .selectFrom('failure')
    .select('id')
    .where('key', '=', wrongCodesKey(profile))
    .where('at', '>', now - failureLifetime)
    .where('at', '<', now + failureLifetime);
  return (await recent.limit(maxWrongCodes).execute()).length < maxWrongCodes ? maxCodeAttempts : 1;
}

/** Counts an attempt before the code is compared, so parallel attempts cannot exceed the limit. @returns false if no attempt is left */
async function countCodeAttempt(tx: Tx, { tid, id }: { readonly tid: number; readonly id: number }, maxAttempts: number): Promise<boolean> {
  const [result] = await tx
    .updateTable('sign_in_code')
    .set((row) => ({ attempts: row('attempts', '+', 1) }))
    .where('tid', '=', tid)
    .where('id', '=', id)
    .where('used', '=', 0)
    .where('attempts', '<', maxAttempts)
    .execute();
  return Number(result?.numUpdatedRows) === 1;
}

/**
 * Verifies a code and uses it up, see `CodeSignIn.verify`. Counts the attempt, so the caller must commit the transaction even if the code
 * is wrong.
 * @param now ms since the epoch
 */
export async function redeemCode(
  tx: Tx,
  vault: Vault,
  profile: ProfileRef,
  credentials: CodeCredentials,
  now: number,
): Promise<CompletedSignIn | null> {
  const mac = Buffer.from(codeMac(vault, { ...credentials, code: parseCode(credentials.code) }));
  const code = await findCode(tx, profile, credentials, now);
  if (!code || !(await countCodeAttempt(tx, code, await findMaxAttempts(tx, profile, now)))) return null;
  if (!timingSafeEqual(Buffer.from(code.mac), mac)) {
    await tx
      .insertInto('failure')
      .values({ key: wrongCodesKey(profile), at: now })
      .execute();
    return null;
  }
  const recipient = await findCodeRecipient(vault, tx, profile, credentials.email);
  if (!recipient) return null;
  await tx.updateTable('sign_in_code').set({ used: 1 }).where('tid', '=', code.tid).where('id', '=', code.id).execute();
  const { identity, user } = recipient;
  return { identity, claimsAt: now, profileEpoch: profile.session_epoch, user };
}

/** Verifies a code and uses it up, in a transaction of its own. */
export const verifyCode = ({ store, clock, vault }: VerifyPorts, profile: ProfileRef, credentials: CodeCredentials) =>
  store.write((tx) => redeemCode(tx, vault, profile, credentials, clock.now()), visitorTurn(credentials.address));
