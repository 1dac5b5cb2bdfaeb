import { day } from '#core/instant.ts';
import type { FieldError } from '#core/messages.ts';
import type { Permissions } from './share-rules.ts';

/** What a tenant asks of all its shares, and proposes for new ones. */
export interface TenantPolicy {
  /** Days from its beginning, or from now, until a share must have ended; null: it need not end. */
  readonly longestValidityDays: number | null;
  /** true: a share is for people who sign in. */
  readonly signInRequired: boolean;
  /** What forms for a new share begin with; null: what the form proposes. */
  readonly defaultPermissions: readonly (keyof Permissions)[] | null;
}

/** A share as the policy sees it; instants in milliseconds since the epoch. */
export interface GovernedShare {
  readonly active: boolean;
  readonly from: number | null;
  readonly to: number | null;
  readonly asksSignIn: boolean;
}

/**
 * Returns the fields of a share that the policy does not allow. A share that is not active is open to nobody, and may be
 * anything: it is judged when it is activated.
 */
export function policyErrors(policy: TenantPolicy, share: GovernedShare, now: number): FieldError[] {
  if (!share.active) return [];
  const { longestValidityDays: days, signInRequired } = policy;
  const fieldErrors: FieldError[] = [];
  if (days !== null) {
    const latest = Math.max(now, share.from ?? now) + days * day;
    if (share.to === null || share.to > latest)
      fieldErrors.push({
        field: 'validityEndDate',
        detail: `must be set, at most ${days} days ahead: the policy of the tenant asks for it`,
      });
  }
  if (signInRequired && !share.asksSignIn)
    fieldErrors.push({ field: 'authenticationId', detail: 'must be a login profile with sign-in: the policy of the tenant asks for it' });
  return fieldErrors;
}
