import Type, { type Static } from 'typebox';
import { parseRanges } from '#core/authorization/address-range.ts';
import { actions, decide, explainDecision } from '#core/authorization/decide.ts';
import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { parseList } from '#core/list-text.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { limits, recordId } from '#core/records/field.ts';
import { findsUsersByEmail, hasAccessUsers, listsUsersById } from '#core/records/login-profile.ts';
import { findLinkOfShare, type LinkRow, type ListedVisitor, profileRules, shareRules } from '#features/links/find-link.ts';
import { readOperation } from '#features/operation.ts';
import type { Store } from '#ports/store.ts';

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
      'E-mail address of the visitor, who then counts as signed in. An inactive access user counts as not signed in. At a profile of type USERS, so does an address that belongs to no user.',
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

/**
 * Returns the visitor that the request describes, as if signed in.
 * @returns null if the request names nobody. If the profile has access users, also null for an inactive user and for an unknown one,
 *   except an e-mail address at a profile that sends codes
 */
async function findVisitor(db: Store['search'], link: LinkRow, request: ExplainRequest): Promise<ListedVisitor | null> {
  const groups = parseList(request.groupNames ?? '', limits.list);
  if (!groups) throw fieldRefusal('groupNames', 'has a quote that is not closed, or text after a closing quote');
  if (groups.length > maxGroups) throw fieldRefusal('groupNames', `must name at most ${maxGroups} groups`);
  const names = [request.username, request.email].flatMap((name) => name || []);
  if (names.length === 0) return null;
  const visitor = { userId: null, names, groups };
  if (!hasAccessUsers(link.type_id)) return visitor;
  let users = db
    .selectFrom('access_user')
    .select(['id', 'username', 'email', 'active'])
    .where('tid', '=', link.tid)
    .where('profile_id', '=', link.profile_id);
  if (request.username) users = users.where('username_key', '=', fold(request.username));
  if (request.email) users = users.where('email_key', '=', fold(request.email));
  const user = await users.orderBy('active', 'desc').limit(1).executeTakeFirst();
  // A profile that sends codes may admit addresses of people who are no access users.
  if (!user) return findsUsersByEmail(link.type_id) && request.email ? { ...visitor, names: [request.email] } : null;
  if (user.active === 0) return null;
  return { ...visitor, userId: user.id, names: listsUsersById(link.type_id) ? [user.username] : [user.email, user.username] };
}

function parseAt(at: string | null | undefined, now: number): number {
  const instant = at ? parseInstant(at, 'firstOfDay') : now;
  if (instant === null) throw fieldRefusal('at', 'must be an existing date or date-time in ISO 8601 format');
  return instant;
}

function parseAddress(address: string | null | undefined): string | null {
  if (!address) return null;
  if (/[\s,/-]/.test(address) || 'wrong' in parseRanges(address)) throw fieldRefusal('address', 'must be an IPv4 or IPv6 address');
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
  async read(body, caller, { store, clock }) {
    const link = await findLinkOfShare(store.read, caller.tid, body.id);
    if (!link) throw new Refusal('recordUnknown');
    const [now, address] = [parseAt(body.at, clock.now()), parseAddress(body.address)];
    const identity = await findVisitor(store.search, link, body);
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
