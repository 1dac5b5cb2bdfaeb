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
    description:
      'Active shares must end within this number of days after their start or their last change, whichever is later. null: no limit.',
  }),
  signInRequired: flag('true: active shares need a login profile with sign-in.'),
  secondFactorRequired: flag(
    'true: operators who sign in to the console with a password need a second factor. Those who have none must add one first.',
  ),
  defaultPermissions: lineOf(255, {
    description: `Permissions that are preselected for a new share, separated by commas: ${permissionNames.join(', ')}. Empty: the form's own defaults.`,
  }),
  outsideCount: count(
    'Number of active shares that do not comply with the policy. They keep working. The next change of such a share must make it comply, or deactivate it.',
  ),
};

/** A tenant's policy in responses. */
export const TenantPolicyRecord = Type.Object({ ...policyFields, longestValidityDays: orNull(policyFields.longestValidityDays) });
export type TenantPolicyRecord = Static<typeof TenantPolicyRecord>;

/** Body of tenant/updatePolicy. An absent field does not change; null clears a field. */
export const PolicyChange = bodyOf(
  policyFields,
  [],
  ['longestValidityDays', 'signInRequired', 'secondFactorRequired', 'defaultPermissions'],
);
export type PolicyChange = Static<typeof PolicyChange>;
