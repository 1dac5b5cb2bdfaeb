import { emailKey } from '#core/mail/email.ts';
import type { Ports } from '#ports/ports.ts';

const purpose = 'unsubscribe';
/** Why a mail was dropped, for operators. */
export const unsubscribedText = 'The recipient has unsubscribed.';

/** The contents of an unsubscribe address: the recipient who wants no more alerts, and the share that the alerts are about. */
export interface Unsubscription {
  readonly tid: number;
  readonly shareId: number;
  readonly recipientKey: string;
}

/** Returns the address (URL) with which a recipient ends the alerts about a share. Nobody can guess it for another recipient. */
export function unsubscribeUrl(
  { links, vault }: Pick<Ports, 'links' | 'vault'>,
  { tid, share_id, recipient }: { readonly tid: number; readonly share_id: number | null; readonly recipient: string },
): string {
  const token = vault.seal(purpose, JSON.stringify([tid, share_id ?? 0, emailKey(recipient)]));
  return `${links.publicUrl()}/unsubscribe/${encodeURIComponent(token)}`;
}

/** Returns the contents of the token of an address, or null if Postern did not create it. */
export function parseUnsubscription({ vault }: Pick<Ports, 'vault'>, token: string): Unsubscription | null {
  try {
    const [tid, shareId, recipientKey]: [number, number, string] = JSON.parse(vault.open(purpose, token));
    return { tid, shareId, recipientKey };
  } catch {
    return null;
  }
}

/**
 * Records that a recipient wants no more alerts about a share, and drops the alert mails that wait or are held. A mail that is being sent
 * is dropped before its next attempt.
 */
export async function unsubscribe(
  { store }: Pick<Ports, 'store'>,
  { tid, shareId, recipientKey }: Unsubscription,
  now: number,
): Promise<void> {
  await store.write(async (tx) => {
    await tx
      .insertInto('unsubscribed')
      .values({ tid, share_id: shareId, recipient_key: recipientKey, at: now })
      .onConflict((conflict) => conflict.columns(['tid', 'share_id', 'recipient_key']).doNothing())
      .execute();
    await tx
      .updateTable('delivery')
      .set({ state: 'dropped', error: unsubscribedText, ended_at: now })
      .where('tid', '=', tid)
      .where('share_id', '=', shareId)
      .where('recipient_key', '=', recipientKey)
      .where('kind', '=', 'alert')
      .where('state', 'in', ['waiting', 'held'])
      .execute();
  }, 'job');
}
