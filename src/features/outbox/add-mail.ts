import { formatList, parseList } from '#core/list-text.ts';
import { emailKey } from '#core/mail/email.ts';
import { insertRow, insertRowWithId } from '#features/records/insert-row.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { MailContent } from './mail-content.ts';

const messageIdBits = 128;
const recipientsPerChange = 200; // in one transaction, so that other changes get their turn
const rowsPerStatement = 50;

type AddPorts = Pick<Ports, 'random'> & { readonly store: Pick<Store, 'dialect'> };

/** A mail before it is planned. */
export interface NewMail {
  readonly tid: number;
  readonly shareId: number | null;
  readonly mail: MailContent;
  readonly language: string;
  readonly recipients: readonly string[];
  /** Domain of the Message-IDs. */
  readonly domain: string;
  /** Mails with the same value share one turn. Default: a turn of this mail alone. */
  readonly turn?: string;
  /** true: the mail is not sent until somebody calls mail/retry for it. */
  readonly isHeld?: boolean;
}

interface PlannedMail {
  readonly id: number;
  readonly tid: number;
  readonly kind: MailContent['kind'];
  readonly share_id: number | null;
  readonly turn: string;
  readonly state: 'waiting' | 'held';
}

const turnOf = (contentId: number) => `mail ${contentId}`;

/** Adds deliveries of a mail. A recipient who has unsubscribed from the share gets no alert. */
async function addDeliveries(
  { store, random }: AddPorts,
  tx: Tx,
  mail: PlannedMail,
  recipients: readonly string[],
  domain: string,
): Promise<void> {
  const { id, tid, kind, share_id, turn } = mail;
  const unsubscriptions =
    kind === 'alert' && share_id !== null
      ? await tx.selectFrom('unsubscribed').select('recipient_key').where('tid', '=', tid).where('share_id', '=', share_id).execute()
      : [];
  const excluded = new Set(unsubscriptions.map(({ recipient_key }) => recipient_key));
  const { now } = store.dialect;
  const rows = recipients
    .map((recipient) => ({ recipient, recipient_key: emailKey(recipient) }))
    .filter(({ recipient_key }) => !excluded.has(recipient_key))
    .map((recipient) => ({
      ...{ tid, lane: kind === 'code' ? ('codes' as const) : ('alerts' as const), kind, content_id: id, turn, share_id, ...recipient },
      ...{ message_id: `${random.token(messageIdBits)}@${domain}`, state: mail.state, attempts: 0 },
      ...{ created_at: now, due_at: now, ended_at: null, error: '' },
    }));
  const [first, ...others] = rows;
  if (first && others.length === 0) return insertRow(tx, 'delivery', first); // such as a sign-in code
  for (let at = 0; at < rows.length; at += rowsPerStatement)
    await tx
      .insertInto('delivery')
      .values(rows.slice(at, at + rowsPerStatement))
      .execute();
}

/**
 * Plans a mail in the transaction of the change that causes it. The deliveries to recipients after the first `recipientsPerChange` are
 * added later, in parts.
 * @returns the id of its content
 */
export async function addMail(ports: AddPorts, tx: Tx, newMail: NewMail): Promise<number> {
  const { tid, shareId, mail, language, recipients, domain, turn, isHeld = false } = newMail;
  const [first, rest] = [recipients.slice(0, recipientsPerChange), recipients.slice(recipientsPerChange)];
  const id = await insertRowWithId(tx, 'mail_content', {
    ...{ tid, kind: mail.kind, share_id: shareId, language, data: JSON.stringify(mail.content) },
    ...{ pending: formatList(rest), held: Number(isHeld), created_at: ports.store.dialect.now },
  });
  const mailPlan = { id, tid, kind: mail.kind, share_id: shareId, turn: turn ?? turnOf(id), state: isHeld ? 'held' : 'waiting' } as const;
  await addDeliveries(ports, tx, mailPlan, first, domain);
  return id;
}

/** Returns whether any mail has recipients whose deliveries are not added yet. */
export const hasPendingRecipients = async ({ read }: Store): Promise<boolean> =>
  (await read.selectFrom('mail_content').select('id').where('pending', '<>', '').limit(1).executeTakeFirst()) !== undefined;

/**
 * Adds the deliveries of the next part of a long list of recipients. Tenants take turns.
 * @param lastTenant the tenant that had the last turn
 * @returns the tenant that has had its turn; null: there is no such list
 */
export async function addPendingDeliveries(
  ports: Pick<Ports, 'store' | 'random'>,
  domain: string,
  lastTenant: number,
): Promise<number | null> {
  return ports.store.write(async (tx) => {
    const next = tx
      .selectFrom('mail_content')
      .select(['id', 'tid', 'kind', 'share_id', 'pending', 'held'])
      .where('pending', '<>', '')
      .orderBy('tid')
      .orderBy('id')
      .limit(1);
    const content = (await next.where('tid', '>', lastTenant).executeTakeFirst()) ?? (await next.executeTakeFirst());
    if (!content) return null;
    const recipients = parseList(content.pending) ?? [];
    const state = content.held === 1 ? 'held' : 'waiting';
    await addDeliveries(ports, tx, { ...content, turn: turnOf(content.id), state }, recipients.slice(0, recipientsPerChange), domain);
    const pending = formatList(recipients.slice(recipientsPerChange));
    await tx.updateTable('mail_content').set({ pending }).where('id', '=', content.id).execute();
    return content.tid;
  }, 'job');
}
