import { fold } from '#core/fold.ts';
import { inRanges } from './address-range.ts';
import type { Identity, Permissions, ProfileRules, ShareRules, Visitor } from './share-rules.ts';

/** What a visitor may do at a link. */
export const actions = ['visit', 'list', 'view', 'download', 'downloadFolder', 'upload', 'createFolder', 'rename', 'delete'] as const;
export type Action = (typeof actions)[number];

/** What anybody who reaches a link may ask for, on the way to an action. */
export type EntryRequest = 'page' | 'signIn' | 'signOut';

/** Why not, in the order of visit.md, "Reaching a link". */
export type Denial = 'unknown' | 'ended' | 'address' | 'signIn' | 'audience' | 'permission';

/** May this visitor do this here and now? `share` null: no such link; `now` in milliseconds since the epoch. */
export interface Question {
  readonly request: Action | EntryRequest;
  readonly share: ShareRules | null;
  readonly profile: ProfileRules;
  readonly visitor: Visitor;
  readonly now: number;
  /** An upload that takes the place of a file deletes that file: it needs both permissions. */
  readonly replaces?: boolean;
}

const permitted: unique symbol = Symbol('permit');
/** Proof that decide() said yes. Only this file can make one; whatever touches bytes asks for it. */
export interface Permit {
  readonly [permitted]: true;
  readonly request: Action | EntryRequest;
  readonly share: ShareRules;
}

/** A question about a link that exists. */
type Known = Question & { readonly share: ShareRules };

interface Rule {
  readonly name: 'active' | 'begun' | 'notEnded' | 'address' | 'signIn' | 'audience' | 'permission';
  readonly denial: Denial;
  readonly holds: (question: Known) => boolean;
  /** Requests that pass whatever the answer: they lead to where it can become yes. */
  readonly passes: ReadonlySet<Action | EntryRequest>;
  readonly reason: (question: Known, holds: boolean) => string;
}

const nobody = new Set<Action | EntryRequest>();
const flagsFor: Record<Action | EntryRequest, readonly (keyof Permissions)[]> = {
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

function isListed(share: ShareRules, identity: Identity): boolean {
  const listed = (list: readonly string[], names: readonly string[]) => {
    if (list.length === 0) return false;
    const known = new Set(names.map(fold));
    return list.some((entry) => known.has(fold(entry)));
  };
  return listed(share.userNames, identity.names) || listed(share.groupNames, identity.groups);
}

function isAdmitted({ share, profile, visitor }: Known): boolean {
  if (share.allowAllUsers) return true;
  return profile.asksSignIn && visitor.identity !== null && isListed(share, visitor.identity);
}

function comesFrom(profile: ProfileRules, visitor: Visitor): boolean {
  return profile.ipRanges === '' || (visitor.address !== null && inRanges(profile.ipRanges, visitor.address));
}

/** `visit` says how to sign in before anybody has: it then tells nothing of the share. */
const asksForSignIn = ({ request, profile, visitor }: Known) => request === 'visit' && profile.asksSignIn && visitor.identity === null;

function isPermitted({ request, share, replaces }: Known): boolean {
  const flags = flagsFor[request];
  const allowed = flags.length === 0 || flags.some((flag) => share[flag]);
  return allowed && (!replaces || share.canDelete);
}

/** In the order of visit.md, "Reaching a link": the first that does not hold is the answer. */
const rules: readonly Rule[] = [
  {
    name: 'active',
    denial: 'unknown',
    holds: ({ share }) => share.active,
    passes: nobody,
    reason: (_, holds) => (holds ? 'The share is active.' : 'The share is inactive: its link answers as if it had never been.'),
  },
  {
    // What has not begun says `unknown`, so that nobody can tell it from what never was.
    name: 'begun',
    denial: 'unknown',
    holds: ({ share, now }) => share.validFrom === null || now >= share.validFrom,
    passes: nobody,
    reason: (_, holds) => (holds ? 'The validity has begun.' : 'The validity has not begun: the link answers as if it had never been.'),
  },
  {
    name: 'notEnded',
    denial: 'ended',
    holds: ({ share, now }) => share.validTo === null || now < share.validTo,
    passes: nobody,
    reason: (_, holds) => (holds ? 'The validity has not ended.' : 'The validity has ended.'),
  },
  {
    name: 'address',
    denial: 'address',
    holds: ({ profile, visitor }) => comesFrom(profile, visitor),
    passes: nobody,
    reason: ({ profile, visitor }, holds) => {
      if (visitor.address === null) return 'No address was asked about.';
      if (profile.ipRanges === '') return 'The login profile allows every address.';
      return `${visitor.address} is ${holds ? 'within' : 'outside'} the address ranges of the login profile.`;
    },
  },
  {
    name: 'signIn',
    denial: 'signIn',
    holds: ({ profile, visitor }) => !profile.asksSignIn || visitor.identity !== null,
    passes: new Set(['page', 'visit', 'signIn', 'signOut']),
    reason: ({ profile }, holds) => {
      if (!profile.asksSignIn) return 'The login profile asks for no sign-in.';
      return holds ? 'The visitor has signed in.' : 'The visitor has not signed in, or their user is inactive or unknown.';
    },
  },
  {
    name: 'audience',
    denial: 'audience',
    holds: (question) => isAdmitted(question) || asksForSignIn(question),
    // `signIn` asks `visit` of the user who has just signed in.
    passes: new Set(['page', 'signIn', 'signOut']),
    reason: ({ share }, holds) => {
      if (share.allowAllUsers) return 'The share admits everybody of its login profile.';
      return holds
        ? 'The visitor is among the users or groups of the share, or may still sign in.'
        : 'The visitor is neither among the users nor in a group of the share.';
    },
  },
  {
    name: 'permission',
    denial: 'permission',
    holds: isPermitted,
    passes: nobody,
    reason: ({ request }, holds) => {
      const flags = flagsFor[request].join(' or ');
      if (flags === '') return `${request} needs no permission.`;
      return holds ? `${flags} is on.` : `${flags} is off.`;
    },
  },
];

const lets = (rule: Rule, question: Known) => rule.passes.has(question.request) || rule.holds(question);

/** May this visitor take this action on this share at this instant? The only place that decides. */
export function decide(question: Question): Permit | { readonly because: Denial } {
  const { share } = question;
  if (share === null) return { because: 'unknown' };
  const known = { ...question, share };
  const broken = rules.find((rule) => !lets(rule, known));
  return broken ? { because: broken.denial } : { [permitted]: true, request: question.request, share };
}

/** What share/explain says of one rule; `passed` null: the question leaves it open. */
export interface RuleExplanation {
  readonly rule: Rule['name'];
  readonly passed: boolean | null;
  readonly reason: string;
}

/** The same rules, all of them, for share/explain. */
export function explain(question: Known): RuleExplanation[] {
  return rules.map((rule) => {
    const passed = lets(rule, question);
    const open = rule.name === 'address' && question.visitor.address === null;
    return { rule: rule.name, passed: open ? null : passed, reason: rule.reason(question, rule.holds(question)) };
  });
}

/** A portal asks rules 1, 3 and 4 alone (visit.md): it stands for no share. */
export function decidePortal(profile: ProfileRules, visitor: Visitor): { readonly because: Denial } | null {
  if (!profile.asksSignIn) return { because: 'unknown' };
  return comesFrom(profile, visitor) ? null : { because: 'address' };
}
