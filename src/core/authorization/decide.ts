import { fold, foldedNames } from '#core/fold.ts';
import { inRanges } from './address-range.ts';
import type { Permissions, ProfileRules, ShareRules, Visitor, VisitorNames } from './share-rules.ts';

/** Actions of a visitor at a link. */
export const actions = ['visit', 'list', 'view', 'download', 'downloadFolder', 'upload', 'createFolder', 'rename', 'delete'] as const;
export type Action = (typeof actions)[number];

/** Requests that are not actions: the page of the link, sign-in and sign-out. They need no sign-in. */
export type EntryRequest = 'page' | 'signIn' | 'signOut';

/** Everything that a visitor may request at a link. */
export type VisitorAction = Action | EntryRequest;

/** The reasons for a refusal, in the order in which they are checked (docs/integrator/access-rules.md, "When access is refused"). */
export type Denial = 'unknown' | 'ended' | 'address' | 'signIn' | 'audience' | 'permission';

/** The input of a decision: a visitor sends a request to a link. */
export interface Question<R extends VisitorAction = VisitorAction> {
  readonly request: R;
  /** null: the link does not exist. */
  readonly share: ShareRules | null;
  readonly profile: ProfileRules;
  readonly visitor: Visitor;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** true: the upload replaces a file. This deletes the old file, so it needs `canDelete` in addition to `canUpload`. */
  readonly replaces?: boolean;
}

const permitKey: unique symbol = Symbol('permit');
/**
 * Proof that `decide` allowed a request. Only this file can create one. All code that reads or writes files for a visitor requires one for
 * its own action: a permit for another action does not compile there.
 */
export interface Permit<R extends VisitorAction = VisitorAction> {
  readonly [permitKey]: true;
  readonly request: R;
  readonly share: ShareRules;
}

/** A question about an existing link. */
type LinkQuestion = Question & { readonly share: ShareRules };

interface Rule {
  readonly name: 'active' | 'started' | 'notEnded' | 'address' | 'signIn' | 'audience' | 'permission';
  readonly denial: Denial;
  readonly holds: (question: LinkQuestion) => boolean;
  /** Requests that are allowed even if the rule does not hold, because they help the visitor to fulfil it, such as signing in. */
  readonly exempt: ReadonlySet<VisitorAction>;
  readonly reason: (question: LinkQuestion, holds: boolean) => string;
}

const noRequests = new Set<VisitorAction>();
type FlagGroup = readonly (keyof Permissions)[];
/** The flags of which a request needs at least one; empty: it needs none. */
const flagsFor: Record<VisitorAction, FlagGroup> = {
  page: [],
  signIn: [],
  signOut: [],
  visit: [],
  list: ['canView', 'canDownload'],
  view: ['canView'],
  download: ['canDownload'],
  downloadFolder: ['canDownloadFolder'],
  upload: ['canUpload'],
  createFolder: ['canCreateFolder'],
  rename: ['canRename'],
  delete: ['canDelete'],
};

function isListed(share: ShareRules, identity: VisitorNames): boolean {
  const includesAny = (list: readonly string[], names: readonly string[]) => {
    if (list.length === 0 || names.length === 0) return false;
    const nameSet = foldedNames(names);
    return list.some((entry) => nameSet.has(fold(entry)));
  };
  return includesAny(share.userNames, identity.names) || includesAny(share.groupNames, identity.groups);
}

function isAdmitted({ share, profile, visitor }: LinkQuestion): boolean {
  if (share.allowAllUsers) return true;
  return profile.requiresSignIn && visitor.identity !== null && isListed(share, visitor.identity);
}

function isAddressAllowed(profile: ProfileRules, visitor: Visitor): boolean {
  return profile.ipRanges === '' || (visitor.address !== null && inRanges(profile.ipRanges, visitor.address));
}

/** Returns whether the request is a `visit` before sign-in. Its response says how to sign in, and contains no share. */
const isVisitBeforeSignIn = ({ request, profile, visitor }: LinkQuestion) =>
  request === 'visit' && profile.requiresSignIn && visitor.identity === null;

/** Returns groups of flags: the request needs at least one flag of each group. */
function requiredGroups({ request, replaces }: LinkQuestion): readonly FlagGroup[] {
  const groups: readonly FlagGroup[] = [flagsFor[request], replaces ? ['canDelete'] : []];
  return groups.filter(({ length }) => length > 0);
}

const hasAny = (share: ShareRules, flags: FlagGroup) => flags.some((flag) => share[flag]);

function permissionReason(flags: FlagGroup, isGranted: boolean): string {
  const names = flags.join(' and ');
  if (flags.length === 1) return `${names} is ${isGranted ? 'on' : 'off'}.`;
  return isGranted ? `At least one of ${names} is on.` : `${names} are off.`;
}

/** The rules in their order. The first one that does not hold and does not exempt the request decides the denial. */
const rules: readonly Rule[] = [
  {
    name: 'active',
    denial: 'unknown',
    holds: ({ share }) => share.active,
    exempt: noRequests,
    reason: (_, holds) =>
      holds
        ? 'The share is active.'
        : 'The share is inactive. Requests to its link get the same response as for a link that does not exist.',
  },
  {
    // A share before its start answers `unknown`, like a link that never existed, so that visitors cannot tell them apart.
    name: 'started',
    denial: 'unknown',
    holds: ({ share, now }) => share.validFrom === null || now >= share.validFrom,
    exempt: noRequests,
    reason: (_, holds) =>
      holds
        ? 'The share has no start date, or its start date has passed.'
        : 'The start date is in the future. Requests to the link get the same response as for a link that does not exist.',
  },
  {
    name: 'notEnded',
    denial: 'ended',
    holds: ({ share, now }) => share.validTo === null || now < share.validTo,
    exempt: noRequests,
    reason: (_, holds) => (holds ? 'The share has not expired.' : 'The share has expired.'),
  },
  {
    name: 'address',
    denial: 'address',
    holds: ({ profile, visitor }) => isAddressAllowed(profile, visitor),
    exempt: noRequests,
    reason: ({ profile, visitor }, holds) => {
      if (visitor.address === null) return 'No address was given, so this rule was not checked.';
      if (profile.ipRanges === '') return 'The login profile allows every address.';
      return `${visitor.address} is ${holds ? 'within' : 'outside'} the address ranges of the login profile.`;
    },
  },
  {
    name: 'signIn',
    denial: 'signIn',
    holds: ({ profile, visitor }) => !profile.requiresSignIn || visitor.identity !== null,
    exempt: new Set(['page', 'visit', 'signIn', 'signOut']),
    reason: ({ profile, request }, holds) => {
      if (!profile.requiresSignIn) return 'The login profile does not require sign-in.';
      if (holds) return 'The visitor has signed in.';
      const reason = 'The visitor has not signed in, or the user is inactive or unknown.';
      return request === 'visit' ? `${reason} The action visit does not need sign-in.` : reason;
    },
  },
  {
    name: 'audience',
    denial: 'audience',
    holds: (question) => isAdmitted(question) || isVisitBeforeSignIn(question),
    // `signIn` is exempt: the `visit` that follows is decided for the user who has signed in.
    exempt: new Set(['page', 'signIn', 'signOut']),
    reason: (question, holds) => {
      if (question.share.allowAllUsers) return 'The share admits all visitors of its login profile.';
      if (!holds) return 'The visitor is not one of the listed users and not in a listed group of the share.';
      return isAdmitted(question)
        ? 'The visitor is one of the listed users, or in a listed group of the share.'
        : 'The visitor has not signed in yet. Users and groups are checked after the sign-in.';
    },
  },
  {
    name: 'permission',
    denial: 'permission',
    holds: (question) => requiredGroups(question).every((flags) => hasAny(question.share, flags)),
    exempt: noRequests,
    reason: (question, holds) => {
      const groups = requiredGroups(question).filter((flags) => hasAny(question.share, flags) === holds);
      return groups.map((flags) => permissionReason(flags, holds)).join(' ') || `${question.request} requires no permission.`;
    },
  },
];

const isAllowedBy = (rule: Rule, question: LinkQuestion) => rule.exempt.has(question.request) || rule.holds(question);

/** Decides whether a visitor may make a request now. No other code decides this. @returns a permit, or the reason for the refusal */
export function decide<R extends VisitorAction>(question: Question<R>): Permit<R> | { readonly because: Denial } {
  const { share } = question;
  if (share === null) return { because: 'unknown' };
  const linkQuestion = { ...question, share };
  const violatedRule = rules.find((rule) => !isAllowedBy(rule, linkQuestion));
  return violatedRule ? { because: violatedRule.denial } : { [permitKey]: true, request: question.request, share };
}

/** The result of one rule. */
export interface RuleExplanation {
  readonly rule: Rule['name'];
  /** null: the question does not specify what the rule needs. */
  readonly passed: boolean | null;
  readonly reason: string;
}

/** Returns the results of all rules, for share/explain. */
export function explainDecision(question: LinkQuestion): RuleExplanation[] {
  return rules.map((rule) => {
    const passed = isAllowedBy(rule, question);
    const isUnspecified = rule.name === 'address' && question.visitor.address === null;
    return { rule: rule.name, passed: isUnspecified ? null : passed, reason: rule.reason(question, rule.holds(question)) };
  });
}

/**
 * Returns why a portal refuses a visitor, or null. Checks that the profile requires sign-in (other profiles have no portal), and the
 * address. Visitors who have not signed in are allowed: the portal shows them no shares.
 */
export function findPortalDenial(profile: ProfileRules, visitor: Visitor): { readonly because: Denial } | null {
  if (!profile.requiresSignIn) return { because: 'unknown' };
  return isAddressAllowed(profile, visitor) ? null : { because: 'address' };
}
