import type { MailKind } from '#core/records/mail.ts';
import type { Ports } from '#ports/ports.ts';
import { type AttemptOutcome, type ClaimedDelivery, isClaimed } from './delivery-queue.ts';

interface StoredContent {
  readonly kind: MailKind;
  readonly data: string;
  readonly language: string;
}

/** Returns the content of a claimed delivery (null: it was deleted), or the outcome of the attempt if the mail must not be sent. */
export async function claimedContent(
  { store }: Pick<Ports, 'store'>,
  delivery: ClaimedDelivery,
): Promise<{ readonly content: StoredContent | null } | AttemptOutcome> {
  const row = await store.read
    .selectFrom('delivery')
    .leftJoin('mail_content', 'mail_content.id', 'delivery.content_id')
    .leftJoin('unsubscribed', (join) =>
      join
        .onRef('unsubscribed.tid', '=', 'delivery.tid')
        .onRef('unsubscribed.share_id', '=', 'delivery.share_id')
        .onRef('unsubscribed.recipient_key', '=', 'delivery.recipient_key')
        .on('delivery.kind', '=', 'alert'),
    )
    .select(['mail_content.kind', 'mail_content.data', 'mail_content.language', 'unsubscribed.at as unsubscribed_at'])
    .where(isClaimed(delivery))
    .executeTakeFirst();
  if (!row) return { kind: 'claimLost' };
  const { kind, data, language, unsubscribed_at } = row;
  if (unsubscribed_at !== null) return { kind: 'unsubscribed' };
  return { content: kind === null || data === null || language === null ? null : { kind, data, language } };
}
