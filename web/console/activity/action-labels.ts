const visitorActions: Readonly<Record<string, string>> = {
  visit: 'Opened the link',
  'sign-in': 'Signed in',
  'sign-out': 'Signed out',
  'change-password': 'Changed their password',
  list: 'Listed a folder',
  view: 'Viewed a file',
  download: 'Downloaded a file',
  downloadFolder: 'Downloaded a folder',
  upload: 'Uploaded a file',
  createFolder: 'Created a folder',
  rename: 'Renamed a file or folder',
  delete: 'Deleted a file or folder',
};

const recordNames: Readonly<Record<string, string>> = {
  share: 'a share',
  accessuser: 'an access user',
  loginprofile: 'a login profile',
  location: 'a location',
  apikey: 'an API key',
  operator: 'an operator',
  tenant: 'a tenant',
};

const verbs: Readonly<Record<string, string>> = {
  add: 'Added',
  update: 'Changed',
  delete: 'Deleted',
  duplicate: 'Duplicated',
  updateSharableLink: 'Replaced the link of',
  updateViewId: 'Replaced the portal address of',
  updateUserPassword: 'Set the password of',
  updatePassword: 'Set the password of',
};

const actionLabels: Readonly<Record<string, string>> = {
  ...visitorActions,
  'accessuser/addMany': 'Added several access users',
  'accessuser/deleteByUsername': 'Deleted an access user by user name',
  'loginprofile/makeDefault': 'Changed the default login profile',
  'share/invite': 'Invited visitors to a share',
  'mail/retry': 'Sent e-mails again',
  'mail/drop': 'Dropped e-mails',
  'tenant/updatePolicy': 'Changed the policy',
  'signature/update': 'Stored the certificate for signatures',
  'signature/delete': 'Deleted the certificate for signatures',
  'operator/signIn': 'Signed in to the console',
  'operator/signOut': 'Signed out of the console',
  'operator/first': 'Created the first operator',
  'operator/addTotp': 'Added an authenticator app',
  'operator/addPasskey': 'Added a passkey',
  'operator/deleteSecondFactor': 'Removed a second factor',
  'operator/renewRecoveryCodes': 'Replaced recovery codes',
  'operator/resetSecondFactors': 'Removed the second factors of an operator',
  'operator/linkProvider': 'Connected an operator to the provider',
  'operator/unlinkProvider': 'Disconnected an operator from the provider',
  'operator/reset': "Reset an operator's access with a command on the server",
};

/** Returns the label of an audited action. An unknown action is its own label. */
export function actionLabel(action: string): string {
  const [record = '', operation = ''] = action.split('/');
  return actionLabels[action] ?? (verbs[operation] && recordNames[record] ? `${verbs[operation]} ${recordNames[record]}` : action);
}

/** The audited actions of operators, of API keys and of commands on the server. */
const operationActions = [
  'share/add',
  'share/update',
  'share/updateSharableLink',
  'share/duplicate',
  'share/invite',
  'share/delete',
  'accessuser/add',
  'accessuser/addMany',
  'accessuser/update',
  'accessuser/updateUserPassword',
  'accessuser/delete',
  'accessuser/deleteByUsername',
  'loginprofile/add',
  'loginprofile/update',
  'loginprofile/updateViewId',
  'loginprofile/duplicate',
  'loginprofile/makeDefault',
  'loginprofile/delete',
  'location/add',
  'location/update',
  'location/delete',
  'apikey/add',
  'apikey/delete',
  'operator/signIn',
  'operator/signOut',
  'operator/first',
  'operator/add',
  'operator/update',
  'operator/updatePassword',
  'operator/delete',
  'operator/addTotp',
  'operator/addPasskey',
  'operator/deleteSecondFactor',
  'operator/renewRecoveryCodes',
  'operator/resetSecondFactors',
  'operator/linkProvider',
  'operator/unlinkProvider',
  'operator/reset',
  'tenant/add',
  'tenant/updatePolicy',
  'signature/update',
  'signature/delete',
  'mail/retry',
  'mail/drop',
];

/** The actions by which the audit log can be filtered. */
export const actionChoices = [
  { group: 'Visitors', items: Object.keys(visitorActions).map((value) => ({ value, label: actionLabel(value) })) },
  {
    group: 'Operators and API keys',
    items: operationActions.map((value) => ({ value, label: actionLabel(value) })),
  },
];
