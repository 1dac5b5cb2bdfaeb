import { wideNetworkOf } from '#core/client-networks.ts';
import type { CodeUse } from '#core/mail/code-mail.ts';
import { mailboxKey } from '#core/mail/email.ts';
import { Refusal } from '#core/messages.ts';
import { codeDigits, codeWindow, maxCodes } from '#core/sign-in-codes.ts';
import { addMail } from '#features/outbox/add-mail.ts';
import { insertRow } from '#features/records/insert-row.ts';
import { preparedQuery, type QueryParameter } from '#features/records/prepared-query.ts';
import { sha256 } from '#features/records/sha256.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import type { CodeRequest, ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';
import { codeMac } from './code-mac.ts';
import { sealCodeMail } from './sealed-code-mail.ts';

type RequestPorts = Pick<Ports, 'store' | 'clock' | 'random' | 'vault' | 'mail'>;

/** Returns codes of a mailbox between two times, at most as many as it may get in an hour. */
const recentCodes = preparedQuery((db, p: QueryParameter<{ tid: number; mailbox: string; after: number; before: number }>) =>
  db
    .selectFrom('sign_in_code')
    .select('id')
    .where('tid', '=', p('tid'))
    .where('mailbox_key', '=', p('mailbox'))
    .where('created_at', '>', p('after'))
    .where('created_at', '<', p('before'))
    .limit(maxCodes),
);

/** Returns whether a mailbox has got as many codes as it may get in an hour. */
async function hasMaxCodes(tx: Tx, tid: number, mailbox: string, now: number): Promise<boolean> {
  // A code whose time is an hour or more ahead was stored while the clock was wrong. It does not count.
  const codes = await recentCodes(tx, { tid, mailbox, after: now - codeWindow, before: now + codeWindow });
  return codes.length === maxCodes;
}

/**
 * Enqueues a mail with a code, see `CodeSignIn.request`. A mailbox that has got the maximum number of codes for an hour gets no further
 * code. Its earlier codes stay valid.
 * @param use what the code is for; a profile sends codes for one use only
 */
export async function enqueueCodeMail(ports: RequestPorts, profile: ProfileRef, request: CodeRequest, use: CodeUse): Promise<void> {
  const { store, clock, random, vault, mail } = ports;
  if (!mail) throw new Refusal('signInUnavailable', 'Codes cannot be sent: no mail server is configured.');
  const { tid, profile_id, session_epoch } = profile;
  const { email, browser, viewId, shareId, language, pageUrl } = request;
  const mailbox = mailboxKey(email);
  const code = random.digits(codeDigits);
  const row = {
    ...{ tid, profile_id, profile_epoch: session_epoch, view_id: viewId, browser: sha256(browser), mailbox_key: mailbox },
    ...{ mac: codeMac(vault, { email, browser, viewId, code }), attempts: 0, used: 0 },
  };
  const sealed = sealCodeMail(vault, { tid, profileId: profile_id, email, code, pageUrl, use });
  await store.write(async (tx) => {
    const now = clock.now();
    if (await hasMaxCodes(tx, tid, mailbox, now)) return;
    await insertRow(tx, 'sign_in_code', { ...row, created_at: now });
    const turn = wideNetworkOf(request.address);
    const content = { kind: 'code', content: { sealed } } as const;
    await addMail({ random, store }, tx, { tid, shareId, mail: content, language, recipients: [''], domain: mail.domain, turn });
  }, visitorTurn(request.address));
}
