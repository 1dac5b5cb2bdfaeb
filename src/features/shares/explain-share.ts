import Type, { type Static } from 'typebox';
import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { parseList } from '#core/list-text.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { parseRanges } from '#core/policy/address-range.ts';
import { actions, decide, explain } from '#core/policy/decide.ts';
import { limits, recordId } from '#core/records/field.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { findLinkOfShare, type LinkRow, profileRules, type SignedInVisitor, shareRules } from '#features/links/find-link.ts';
import { read } from '#features/operation.ts';
import type { Store } from '#ports/store.ts';

const mostGroups = 1000; // each is looked for among those of the share, for every action

const text = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: limits.list, description }));
const ExplainRequest = Type.Object(
  {
    id: recordId('Share.'),
    username: text('User name of the visitor; counts as signed in.'),
    email: text('E-mail address of the visitor; counts as signed in.'),
    groupNames: text("The visitor's groups, separated by commas."),
    address: text('Address that the visitor comes from.'),
    at: text('Instant asked about; default now.'),
    action: Type.Optional(Type.Enum([...actions], { description: 'Action whose rules are answered; default visit.' })),
  },
  { additionalProperties: false },
);
type ExplainRequest = Static<typeof ExplainRequest>;

const Explanation = Type.Object({
  action: Type.String({ description: 'Action whose rules these are.' }),
  rules: Type.Array(
    Type.Object({
      rule: Type.String({ description: 'Rule of the decision, in order.' }),
      passed: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description: 'null: the question leaves it open.' }),
      reason: Type.String({ description: 'Why, in words.' }),
    }),
  ),
  outcomes: Type.Array(
    Type.Object({
      action: Type.String(),
      allowed: Type.Boolean(),
      denial: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'Why not: unknown, ended, address, signIn, audience or permission.',
      }),
    }),
    { description: 'Every action; without an address as if it came from an allowed one.' },
  ),
});

/** The person asked about, as signed in; null: nobody, or a user of the profile who is not there or not active. */
async function personIn(db: Store['search'], link: LinkRow, question: ExplainRequest): Promise<SignedInVisitor | null> {
  const groups = parseList(question.groupNames ?? '');
  if (!groups) throw fieldRefusal('groupNames', 'has a quote that is not closed, or text behind a closing quote');
  if (groups.length > mostGroups) throw fieldRefusal('groupNames', `must name at most ${mostGroups} groups`);
  const names = [question.username, question.email].flatMap((name) => name || []);
  if (names.length === 0) return null;
  const person = { userId: null, name: names[0] ?? '', email: question.email ?? '', names, groups };
  if (link.type_id !== profileTypes.USERS) return person;
  let users = db
    .selectFrom('access_user')
    .select(['id', 'username', 'email'])
    .where('tid', '=', link.tid)
    .where('profile_id', '=', link.profile_id)
    .where('active', '=', 1);
  if (question.username) users = users.where('username_key', '=', fold(question.username));
  if (question.email) users = users.where('email_key', '=', fold(question.email));
  const user = await users.limit(1).executeTakeFirst();
  return user ? { ...person, userId: user.id, name: user.username, email: user.email, names: [user.username] } : null;
}

function instantIn(at: string | null | undefined, now: number): number {
  const instant = at ? parseInstant(at, 'firstOfDay') : now;
  if (instant === null) throw fieldRefusal('at', 'must be an ISO 8601 date or date-time that exists');
  return instant;
}

function addressIn(address: string | null | undefined): string | null {
  if (!address) return null;
  if (/[\s,/-]/.test(address) || 'wrong' in parseRanges(address)) throw fieldRefusal('address', 'must be an IPv4 or IPv6 address');
  return address;
}

export const explainShare = read({
  name: 'share/explain',
  method: 'POST',
  role: 'reader',
  isSearch: true,
  summary: 'Says who could do what at a share, from where and when, by the rules that guard the link; changes nothing.',
  body: ExplainRequest,
  response: Explanation,
  async read(body, caller, { store, clock }) {
    const link = await findLinkOfShare(store.read, caller.tid, body.id);
    if (!link) throw new Refusal('recordUnknown');
    const [now, address] = [instantIn(body.at, clock.now()), addressIn(body.address)];
    const identity = await personIn(store.search, link, body);
    const share = await shareRules(store.read, link, identity);
    const profile = profileRules(link);
    const question = { share, profile, visitor: { address, identity }, now };
    // Without an address the address rule stays open: the outcomes are those from an allowed one.
    const asked = address === null ? { ...question, profile: { ...profile, ipRanges: '' } } : question;
    const action = body.action ?? 'visit';
    const outcomes = actions.map((request) => {
      const decision = decide({ ...asked, request });
      const denial = 'because' in decision ? decision.because : null;
      return { action: request, allowed: denial === null, denial };
    });
    return { action, rules: explain({ ...question, request: action }), outcomes };
  },
});
