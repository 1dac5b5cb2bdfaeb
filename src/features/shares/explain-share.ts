import Type, { type Static } from 'typebox';
import { parseRanges } from '#core/authorization/address-range.ts';
import { actions, decide, explainDecision } from '#core/authorization/decide.ts';
import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { parseList } from '#core/list-text.ts';
import { emailKey, findAllowedEmail, isSameEmail } from '#core/mail/email.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { limits, recordId } from '#core/records/field.ts';
import { findsUsersByEmail, hasAccessUsers } from '#core/records/login-profile.ts';
import { readAllowedEmails } from '#features/links/allowed-emails.ts';
import { findLinkOfShare, type LinkRow, type ListedVisitor, profileRules, shareRules } from '#features/links/find-link.ts';
import { readOperation } from '#features/operation.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

const maxGroups = 1000; // each action compares all of them with the groups of the share

const text = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: limits.list, description }));
const ExplainRequest = Type.Object(
  {
    id: recordId('Share.'),
    username: text(
      'User name of the visitor, who then counts as signed in. If the login profile has access users, an unknown or inactive user counts as not signed in.',
    ),
    email: text(
      'E-mail address of the visitor, who then counts as signed in. An inactive access user counts as not signed in. The same applies to an address that belongs to no user (profile of type USERS) or that gets no code (type EMAIL_CODE).',
    ),
    groupNames: text("The visitor's groups, separated by commas."),
    address: text('Address that the visitor comes from.'),
    at: text('Instant for which the rules are evaluated; default now.'),
    action: Type.Optional(Type.Enum([...actions], { description: 'Action whose rules are returned; default visit.' })),
  },
  { additionalProperties: false },
);
type ExplainRequest = Static<typeof ExplainRequest>;

const Explanation = Type.Object({
  action: Type.String({ description: 'Action whose rules these are.' }),
  rules: Type.Array(
    Type.Object({
      rule: Type.String({
        description: 'Rule of the decision, in order: active, started, notEnded, address, signIn, audience, permission.',
      }),
      passed: Type.Unsafe<boolean | null>({
        type: ['boolean', 'null'],
        description: 'null: the rule was not checked, because the request has no address.',
      }),
      reason: Type.String({ description: 'Why the rule is met or not, as a sentence.' }),
    }),
  ),
  outcomes: Type.Array(
    Type.Object({
      action: Type.String(),
      allowed: Type.Boolean(),
      denial: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description:
          'Why the action is not allowed; null: it is allowed. unknown (the share is inactive or has not started; visitors get the same response as for a link that does not exist), ended, address, signIn, audience or permission.',
      }),
    }),
    { description: 'Every action. Without an address, the visitor counts as coming from an allowed one.' },
  ),
});

const profileUsers = (db: Tx, { tid, profile_id }: LinkRow) =>
  db.selectFrom('access_user').select(['id', 'username', 'email', 'active']).where('tid', '=', tid).where('profile_id', '=', profile_id);

type ExplainPorts = Pick<Ports, 'store' | 'vault'>;
type User = Pick<ListedVisitor, 'userId' | 'names'>;

/** Returns the active user whom the request names in a profile of type USERS, or null. */
async function findUser({ store }: ExplainPorts, link: LinkRow, { username, email }: ExplainRequest): Promise<User | null> {
  let users = profileUsers(store.search, link);
  if (username) users = users.where('username_key', '=', fold(username));
  if (email) users = users.where('email_key', '=', emailKey(email));
  const user = await users.orderBy('active', 'desc').limit(1).executeTakeFirst();
  return user?.active === 1 ? { userId: user.id, names: [user.username] } : null;
}

/** Returns who may sign in with a code for the named user or address; null: nobody. The rules are those of `findCodeRecipient`. */
async function findCodeUser({ store, vault }: ExplainPorts, link: LinkRow, { username, email }: ExplainRequest): Promise<User | null> {
  const users = profileUsers(store.search, link);
  const named = username ? await users.where('username_key', '=', fold(username)).executeTakeFirst() : null;
  const address = email || named?.email;
  if (named === undefined || !address) return null;
  const [user, other] = await users.where('email_key', '=', emailKey(address)).limit(2).execute();
  if (other || (named && named.id !== user?.id)) return null;
  if (user) return user.active === 1 && isSameEmail(address, user.email) ? { userId: user.id, names: [user.email, user.username] } : null;
  const allowed = findAllowedEmail(address, await readAllowedEmails(vault, store.search, link));
  return allowed === null ? null : { userId: null, names: [allowed] };
}

/**
 * Returns the visitor that the request describes, as if signed in.
 * @returns null if the request names nobody. If the profile has access users, also null for somebody who cannot sign in there
 */
async function findVisitor(ports: ExplainPorts, link: LinkRow, request: ExplainRequest): Promise<ListedVisitor | null> {
  const groups = parseList(request.groupNames ?? '', limits.list);
  if (!groups) throw fieldRefusal('groupNames', 'has a quote that is not closed, or text after a closing quote');
  if (groups.length > maxGroups) throw fieldRefusal('groupNames', `must name at most ${maxGroups} groups`);
  const names = [request.username, request.email].flatMap((name) => name || []);
  if (names.length === 0) return null;
  if (!hasAccessUsers(link.type_id)) return { userId: null, names, groups };
  const user = await (findsUsersByEmail(link.type_id) ? findCodeUser : findUser)(ports, link, request);
  return user && { ...user, groups };
}

function parseAt(at: string | null | undefined, now: number): number {
  const instant = at ? parseInstant(at, 'firstOfDay') : now;
  if (instant === null) throw fieldRefusal('at', 'must be an existing date or date-time in ISO 8601 format');
  return instant;
}

function parseAddress(address: string | null | undefined): string | null {
  if (!address) return null;
  if (/[\s,/-]/.test(address) || 'invalidEntry' in parseRanges(address)) throw fieldRefusal('address', 'must be an IPv4 or IPv6 address');
  return address;
}

export const explainShare = readOperation({
  name: 'share/explain',
  method: 'POST',
  role: 'reader',
  isSearch: true,
  summary: 'Explains whether a visitor may use a share, by the access rules of its link. Changes nothing.',
  body: ExplainRequest,
  response: Explanation,
  async read(body, caller, { store, vault, clock }) {
    const link = await findLinkOfShare(store.read, caller.tid, body.id);
    if (!link) throw new Refusal('recordUnknown');
    const [now, address] = [parseAt(body.at, clock.now()), parseAddress(body.address)];
    const identity = await findVisitor({ store, vault }, link, body);
    const share = await shareRules(store.read, link, identity);
    const profile = profileRules(link);
    const visit = { share, profile, visitor: { address, identity }, now };
    // Without an address the outcomes are those of a visitor from an allowed address.
    const outcomeVisit = address === null ? { ...visit, profile: { ...profile, ipRanges: '' } } : visit;
    const action = body.action ?? 'visit';
    const outcomes = actions.map((request) => {
      const decision = decide({ ...outcomeVisit, request });
      const denial = 'because' in decision ? decision.because : null;
      return { action: request, allowed: denial === null, denial };
    });
    return { action, rules: explainDecision({ ...visit, request: action }), outcomes };
  },
});
