import Type, { type Static } from 'typebox';
import { bodyOf, count, flag, lineOf, orNull } from './field.ts';

/** Names of the permission fields of a share. */
export const permissionNames = [
  'canView',
  'canDownload',
  'canDownloadFolder',
  'canUpload',
  'canCreateFolder',
  'canRename',
  'canDelete',
] as const;

/** All fields of a tenant's policy. */
export const policyFields = {
  longestValidityDays: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    description: 'Active shares must end within so many days of their beginning, or of the change; null: they need not end.',
  }),
  signInRequired: flag('true: active shares need a login profile with sign-in.'),
  defaultPermissions: lineOf(255, {
    description: `What a form for a new share begins with, separated by commas: ${permissionNames.join(', ')}; empty: what the form proposes.`,
  }),
  outsideCount: count('Active shares that do not comply: they stay as they are until they are changed.'),
};

/** A tenant's policy in responses. */
export const TenantPolicyRecord = Type.Object({ ...policyFields, longestValidityDays: orNull(policyFields.longestValidityDays) });
export type TenantPolicyRecord = Static<typeof TenantPolicyRecord>;

/** Body of tenant/updatePolicy. An absent field does not change; null clears a field. */
export const PolicyChange = bodyOf(policyFields, [], ['longestValidityDays', 'signInRequired', 'defaultPermissions']);
export type PolicyChange = Static<typeof PolicyChange>;
