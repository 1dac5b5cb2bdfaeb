import { shareUrl } from '#core/link.ts';
import { parseList } from '#core/list-text.ts';
import { emailKey, parseEmail } from '#core/mail/email.ts';
import { fieldRefusal } from '#core/messages.ts';
import { limits } from '#core/records/field.ts';
import { listsUsersById, requiresSignIn } from '#core/records/login-profile.ts';
import type { Invitation } from '#core/records/mail.ts';
import { normalizeText } from '#core/unicode.ts';
import type { Links } from '#ports/links.ts';
import type { Tx } from '#ports/store.ts';

/** Maximum number of recipients of one call. */
export const maxRecipients = 1000;

/** Returns the addresses in the field `emails`, each once. @throws Refusal 400 at emails */
function givenRecipients(text: string): string[] {
  const entries = parseList(normalizeText(text), limits.list);
  if (!entries) throw fieldRefusal('emails', 'has a quote that is not closed, or text after a closing quote');
  const wrong = entries.find((entry) => parseEmail(entry) === null);
  if (wrong !== undefined) throw fieldRefusal('emails', `"${wrong}" is not an e-mail address`);
  return [...new Map(entries.map((entry) => [emailKey(entry), entry])).values()];
}

const tooMany = () =>
  fieldRefusal(
    'emails',
    `must name at most ${maxRecipients} addresses; if the field is empty, the share must list at most that many e-mail addresses`,
  );

/** Returns the e-mail addresses of the active users whom a share lists. @throws Refusal 400 at emails if there are too many */
async function listedRecipients(tx: Tx, tid: number, shareId: number, typeId: number): Promise<string[]> {
  const listedUsers = tx.selectFrom('share_user').where('share_user.tid', '=', tid).where('share_user.share_id', '=', shareId);
  if (!listsUsersById(typeId)) {
    const rows = await listedUsers
      .select('name')
      .where('name', 'like', '%@%')
      .orderBy('position')
      .limit(maxRecipients + 1)
      .execute();
    if (rows.length > maxRecipients) throw tooMany();
    return rows.map(({ name }) => name).filter((name) => parseEmail(name) !== null);
  }
  const rows = await listedUsers
    .innerJoin('access_user', (join) =>
      join.onRef('access_user.tid', '=', 'share_user.tid').onRef('access_user.id', '=', 'share_user.user_id'),
    )
    .select('access_user.email')
    .where('access_user.active', '=', 1)
    .where('access_user.email', '!=', '')
    .orderBy('position')
    .limit(maxRecipients + 1)
    .execute();
  if (rows.length > maxRecipients) throw tooMany();
  return rows.map(({ email }) => email).filter((email) => parseEmail(email) !== null);
}

const findShare = (tx: Tx, tid: number, id: number) =>
  tx
    .selectFrom('share')
    .innerJoin('login_profile', (join) =>
      join.onRef('login_profile.tid', '=', 'share.tid').onRef('login_profile.id', '=', 'share.profile_id'),
    )
    .select(['share.title', 'share.view_id', 'share.folder', 'share.valid_to', 'login_profile.type_id', 'login_profile.lang'])
    .where('share.tid', '=', tid)
    .where('share.id', '=', id)
    .executeTakeFirst();

/**
 * Returns the invitation to a share, and to whom it goes; null if there is no such share.
 * @param language of the mail if the login profile has none
 * @throws Refusal (400) at emails
 */
export async function findInvitation(tx: Tx, links: Links, tid: number, { id, emails, message }: Invitation, language: string) {
  const share = await findShare(tx, tid, id);
  if (!share) return null;
  const givenAddresses = givenRecipients(emails ?? '');
  const recipients = givenAddresses.length > 0 ? givenAddresses : await listedRecipients(tx, tid, id, share.type_id);
  if (recipients.length === 0) throw fieldRefusal('emails', 'must name addresses: the share lists nobody with an e-mail address');
  if (recipients.length > maxRecipients) throw tooMany();
  const content = {
    ...{ shareTitle: share.title, viewUrl: shareUrl(links.publicUrl(), share.view_id), folder: share.folder === 1 },
    ...{ message: normalizeText(message ?? ''), validTo: share.valid_to, requiresSignIn: requiresSignIn(share.type_id) },
  };
  return { share, recipients, content, language: share.lang || language };
}
