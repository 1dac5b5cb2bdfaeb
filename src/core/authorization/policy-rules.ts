import { millisecondsPerDay } from '#core/instant.ts';
import type { FieldError } from '#core/messages.ts';
import type { Permissions } from './share-rules.ts';

/** Requirements of a tenant for its shares and operators, and defaults for new shares. */
export interface TenantPolicy {
  /** Longest validity of a share in days, from now or from its start if that is later; null: no limit. */
  readonly longestValidityDays: number | null;
  /** true: the login profile of a share must require sign-in. */
  readonly signInRequired: boolean;
  /** true: operators who sign in with a password need a second factor. */
  readonly secondFactorRequired: boolean;
  /** Permissions that the form for a new share preselects; null: the form's own defaults. */
  readonly defaultPermissions: readonly (keyof Permissions)[] | null;
}

/** The fields of a share that the policy depends on. Instants are in milliseconds since the epoch. */
export interface GovernedShare {
  readonly active: boolean;
  readonly from: number | null;
  readonly to: number | null;
  readonly requiresSignIn: boolean;
}

/**
 * Returns an error for each field of a share that violates the policy. An inactive share is not checked: nobody can open
 * it, and it is checked when it is activated.
 */
export function policyErrors(policy: TenantPolicy, share: GovernedShare, now: number): FieldError[] {
  if (!share.active) return [];
  const { longestValidityDays: days, signInRequired } = policy;
  const fieldErrors: FieldError[] = [];
  if (days !== null) {
    const latestEnd = Math.max(now, share.from ?? now) + days * millisecondsPerDay;
    if (share.to === null || share.to > latestEnd)
      fieldErrors.push({
        field: 'validityEndDate',
        detail: `must be at most ${days} ${days === 1 ? 'day' : 'days'} after now or after validityStartDate, whichever is later: the tenant policy requires it`,
      });
  }
  if (signInRequired && !share.requiresSignIn)
    fieldErrors.push({ field: 'authenticationId', detail: 'must be a login profile with sign-in: the tenant policy requires it' });
  return fieldErrors;
}
