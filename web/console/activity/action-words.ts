const visitorActions: Readonly<Record<string, string>> = {
  visit: 'Opened the link',
  'sign-in': 'Signed in',
  'sign-out': 'Signed out',
  'change-password': 'Changed their password',
  list: 'Saw the list',
  view: 'Looked at a file',
  download: 'Downloaded a file',
  downloadFolder: 'Downloaded a folder',
  upload: 'Uploaded a file',
  createFolder: 'Made a folder',
  rename: 'Renamed',
  delete: 'Deleted',
};

const recordNames: Readonly<Record<string, string>> = {
  share: 'a share',
  accessuser: 'a person',
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
  deleteByUsername: 'Deleted',
  duplicate: 'Duplicated',
  updateSharableLink: 'Gave a new link to',
  updateViewId: 'Gave a new portal address to',
  updateUserPassword: 'Set the password of',
  updatePassword: 'Set the password of',
  makeDefault: 'Made the default',
};

const actionLabels: Readonly<Record<string, string>> = {
  ...visitorActions,
  'operator/signIn': 'Signed in to the console',
  'operator/first': 'Made the first operator',
};

/** An action of the trail in words; one that is not known, as it is. */
export function actionLabel(action: string): string {
  const [record = '', operation = ''] = action.split('/');
  return actionLabels[action] ?? (verbs[operation] && recordNames[record] ? `${verbs[operation]} ${recordNames[record]}` : action);
}

const shareAndUserActions = ['share/add', 'share/update', 'share/updateSharableLink', 'share/delete', 'accessuser/add', 'accessuser/update'];
const profileActions = ['accessuser/updateUserPassword', 'accessuser/delete', 'loginprofile/add', 'loginprofile/update', 'loginprofile/delete'];
const settingsActions = ['location/add', 'location/update', 'location/delete', 'apikey/add', 'apikey/delete', 'operator/signIn', 'operator/add'];

/** What the trail is filtered by. */
export const actionChoices = [
  { group: 'Visitors', items: Object.keys(visitorActions).map((value) => ({ value, label: actionLabel(value) })) },
  { group: 'Operators and programs', items: [...shareAndUserActions, ...profileActions, ...settingsActions].map((value) => ({ value, label: actionLabel(value) })) },
];
