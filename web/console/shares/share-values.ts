import { type QuotaValues, quotaBodyOf, quotaValuesOf } from '#console/components/quota-fields.tsx';
import { changedFieldsBy } from '#console/components/record-editor.tsx';
import { formatList, parseList } from '#core/list-text.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';
import { type PermissionFlags, permissionPresets, permissions } from './permissions.ts';

/** The form values of a share: lists as arrays, times in the operator's time zone. */
export interface ShareValues extends PermissionFlags, QuotaValues, Record<string, unknown> {
  readonly title: string;
  readonly description: string;
  readonly startupMessage: string;
  readonly location: string;
  readonly path: string;
  readonly folder: boolean;
  readonly authenticationId: number;
  /** Visitors sign in with a password for this link, in place of a login profile. */
  readonly ownPassword: boolean;
  readonly linkPassword: string;
  readonly allowAllUsers: boolean;
  readonly users: string[];
  readonly groups: string[];
  /** `2027-03-31 17:00:00` in the operator's zone; empty: none. */
  readonly from: string;
  readonly until: string;
  readonly emails: string[];
  readonly alertView: boolean;
  readonly alertDownload: boolean;
  readonly alertUpload: boolean;
  readonly alertCreateFolder: boolean;
  readonly alertRename: boolean;
  readonly alertDelete: boolean;
  readonly copyProtect: boolean;
  readonly copyProtectText: boolean;
  readonly waterMarkText: string;
  readonly digitalSignature: boolean;
  readonly digitalSignReason: string;
  readonly active: boolean;
  readonly proxyMode: boolean;
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** Returns an instant in the operator's time zone: `2027-03-31 17:00:00`. */
export function localTime(instant: string | null): string {
  if (!instant) return '';
  const at = new Date(instant);
  const day = `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
  return `${day} ${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}:${twoDigits(at.getSeconds())}`;
}

/** Returns the instant of a time in the operator's time zone, or null for an empty string. */
export const instantOf = (local: string): string | null => (local === '' ? null : new Date(local.replace(' ', 'T')).toISOString());

/** Returns the initial values of a new share, with the permissions to view and download. */
export const newShareValues = (location: string, authenticationId: number): ShareValues => ({
  ...permissionPresets.download.can,
  title: '',
  description: '',
  startupMessage: '',
  location,
  path: '',
  folder: true,
  authenticationId,
  ownPassword: false,
  linkPassword: '',
  allowAllUsers: true,
  users: [],
  groups: [],
  from: '',
  until: '',
  emails: [],
  alertView: false,
  alertDownload: false,
  alertUpload: false,
  alertCreateFolder: false,
  alertRename: false,
  alertDelete: false,
  copyProtect: false,
  copyProtectText: false,
  waterMarkText: '',
  digitalSignature: false,
  digitalSignReason: '',
  active: true,
  proxyMode: true,
  maxGigabytes: '',
  maxFiles: '',
});

export function shareValuesOf(share: Share): ShareValues {
  const empty = newShareValues(share.location, share.authenticationId);
  const copiedFields = Object.fromEntries(Object.keys(empty).flatMap((name) => (name in share ? [[name, Reflect.get(share, name)]] : [])));
  return {
    ...empty,
    ...copiedFields,
    users: parseList(share.userNames) ?? [],
    groups: parseList(share.groupNames) ?? [],
    emails: parseList(share.notifyEmails) ?? [],
    from: localTime(share.validityStartDate),
    until: localTime(share.validityEndDate),
    ...quotaValuesOf(share),
  };
}

/** Returns the request body of share/add and share/update. */
export function shareBodyOf({
  users,
  groups,
  emails,
  from,
  until,
  ownPassword,
  linkPassword,
  maxGigabytes,
  maxFiles,
  ...rest
}: ShareValues) {
  return {
    ...rest,
    ...(ownPassword ? { linkPassword, allowAllUsers: true } : {}),
    userNames: formatList(users),
    groupNames: formatList(groups),
    notifyEmails: formatList(emails),
    validityStartDate: instantOf(from),
    validityEndDate: instantOf(until),
    ...quotaBodyOf({ maxGigabytes, maxFiles }),
  };
}

const fieldLabels: Readonly<Record<string, string>> = {
  title: 'title',
  description: 'description',
  startupMessage: 'notice',
  authenticationId: 'login profile',
  ownPassword: 'password for this link',
  linkPassword: 'password for this link',
  allowAllUsers: 'access',
  users: 'access',
  groups: 'access',
  from: 'start',
  until: 'expiry',
  emails: 'notification list',
  copyProtect: 'copy protection',
  copyProtectText: 'text for screen readers',
  waterMarkText: 'watermark',
  digitalSignature: 'signature',
  digitalSignReason: 'signature reason',
  active: 'active',
  proxyMode: 'proxy mode',
  maxGigabytes: 'quota',
  maxFiles: 'quota',
};

const alertLabels = Object.fromEntries(
  ['View', 'Download', 'Upload', 'CreateFolder', 'Rename', 'Delete'].map((name) => [`alert${name}`, 'alerts']),
);

/** Maps the name of an API field to the name of its form field, where these differ. */
export const shareFieldNames = {
  userNames: 'users',
  groupNames: 'groups',
  notifyEmails: 'emails',
  validityStartDate: 'from',
  validityEndDate: 'until',
  maxBytes: 'maxGigabytes',
};

export const changedShareFields = changedFieldsBy<ShareValues>({
  ...fieldLabels,
  ...alertLabels,
  ...Object.fromEntries(permissions.map(({ flag }) => [flag, 'permissions'])),
});

/** Returns whether visitors of a login profile type have names, by which they can be given access. */
export const hasVisitorNames = (typeId: number | undefined) =>
  typeId !== undefined && typeId !== profileTypes.PUBLIC && typeId !== profileTypes.PASSWORD;
export const hasVisitorGroups = (typeId: number | undefined) => typeId !== undefined && typeId >= profileTypes.OIDC;
