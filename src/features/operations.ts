import { addAccessUser } from './access-users/add-access-user.ts';
import { addAccessUsers } from './access-users/add-access-users.ts';
import { deleteAccessUser, deleteAccessUserByUsername } from './access-users/delete-access-user.ts';
import { getAccessUser } from './access-users/get-access-user.ts';
import { searchAccessUsers } from './access-users/search-access-users.ts';
import { updateAccessUser } from './access-users/update-access-user.ts';
import { updatePassword } from './access-users/update-password.ts';
import { addApiKey } from './api-keys/add-api-key.ts';
import { deleteApiKey } from './api-keys/delete-api-key.ts';
import { searchApiKeys } from './api-keys/search-api-keys.ts';
import { exportAudit } from './audit/export-audit.ts';
import { searchAudit } from './audit/search-audit.ts';
import { getCaller } from './callers/get-caller.ts';
import { traceFile } from './documents/trace-file.ts';
import { addLocation } from './locations/add-location.ts';
import { browseLocation } from './locations/browse-location.ts';
import { deleteLocation } from './locations/delete-location.ts';
import { getLocation } from './locations/get-location.ts';
import { searchLocations } from './locations/search-locations.ts';
import { testLocation } from './locations/test-location.ts';
import { updateLocation } from './locations/update-location.ts';
import { addLoginProfile } from './login-profiles/add-login-profile.ts';
import { changeViewId } from './login-profiles/change-view-id.ts';
import { deleteLoginProfile } from './login-profiles/delete-login-profile.ts';
import { duplicateLoginProfile } from './login-profiles/duplicate-login-profile.ts';
import { getLoginProfile } from './login-profiles/get-login-profile.ts';
import { makeDefault } from './login-profiles/make-default.ts';
import { searchLoginProfiles } from './login-profiles/search-login-profiles.ts';
import { testLoginProfile } from './login-profiles/test-login-profile.ts';
import { testSignIn } from './login-profiles/test-sign-in.ts';
import { updateLoginProfile } from './login-profiles/update-login-profile.ts';
import { dropDeliveries, retryDeliveries } from './mail/change-deliveries.ts';
import { inviteToShare } from './mail/invite.ts';
import { previewInvitation } from './mail/preview-invitation.ts';
import { searchDeliveries } from './mail/search-deliveries.ts';
import { sendTestMail } from './mail/test-mail.ts';
import type { Operation } from './operation.ts';
import { addOperator } from './operators/add-operator.ts';
import { addPasskey, preparePasskey } from './operators/add-passkey.ts';
import { addTotp, prepareTotp } from './operators/add-totp.ts';
import { deleteOperator } from './operators/delete-operator.ts';
import { deleteSecondFactor } from './operators/delete-second-factor.ts';
import { getSecondFactors } from './operators/get-second-factors.ts';
import { renewRecoveryCodes } from './operators/renew-recovery-codes.ts';
import { resetSecondFactors } from './operators/reset-second-factors.ts';
import { searchOperators } from './operators/search-operators.ts';
import { unlinkOperator } from './operators/unlink-operator.ts';
import { updateOperator } from './operators/update-operator.ts';
import { updateOperatorPassword } from './operators/update-operator-password.ts';
import { getOverview } from './overview/get-overview.ts';
import { addShare } from './shares/add-share.ts';
import { changeLink } from './shares/change-link.ts';
import { deleteShare } from './shares/delete-share.ts';
import { duplicateShare } from './shares/duplicate-share.ts';
import { explainShare } from './shares/explain-share.ts';
import { getShare } from './shares/get-share.ts';
import { lastVisits } from './shares/last-visits.ts';
import { searchShares } from './shares/search-shares.ts';
import { shareActivity } from './shares/share-activity.ts';
import { unfinishedUploads } from './shares/unfinished-uploads.ts';
import { updateShare } from './shares/update-share.ts';
import { deleteSignature, getSignature, testSignature, updateSignature } from './signatures/signature-operations.ts';
import { getPolicy, updatePolicy } from './tenants/policy-operations.ts';
import { addTenant, searchTenants } from './tenants/tenants.ts';

const operationList = [
  updateAccessUser,
  updatePassword,
  addAccessUser,
  addAccessUsers,
  deleteAccessUser,
  deleteAccessUserByUsername,
  searchAccessUsers,
  getAccessUser,
  addShare,
  updateShare,
  changeLink,
  getShare,
  duplicateShare,
  deleteShare,
  searchShares,
  explainShare,
  shareActivity,
  lastVisits,
  unfinishedUploads,
  updateLoginProfile,
  changeViewId,
  getLoginProfile,
  duplicateLoginProfile,
  addLoginProfile,
  deleteLoginProfile,
  searchLoginProfiles,
  makeDefault,
  addLocation,
  updateLocation,
  getLocation,
  deleteLocation,
  searchLocations,
  testLocation,
  testLoginProfile,
  testSignIn,
  browseLocation,
  addApiKey,
  deleteApiKey,
  searchApiKeys,
  addOperator,
  updateOperator,
  updateOperatorPassword,
  deleteOperator,
  searchOperators,
  getSecondFactors,
  prepareTotp,
  addTotp,
  preparePasskey,
  addPasskey,
  deleteSecondFactor,
  renewRecoveryCodes,
  resetSecondFactors,
  unlinkOperator,
  getCaller,
  getOverview,
  addTenant,
  searchTenants,
  getPolicy,
  updatePolicy,
  getSignature,
  updateSignature,
  testSignature,
  deleteSignature,
  searchAudit,
  exportAudit,
  traceFile,
  inviteToShare,
  previewInvitation,
  searchDeliveries,
  retryDeliveries,
  dropDeliveries,
  sendTestMail,
] as const;

/**
 * All operations of /api/v1 except those of sign-in, sign-out, the first operator and the provider, which have routes of their own in
 * http/management.
 * Routes and OpenAPI are generated from this list.
 */
export const operations: readonly Operation[] = operationList;

/** The operations with the types of their bodies and responses, for typed clients. */
export type ListedOperation = (typeof operationList)[number];
