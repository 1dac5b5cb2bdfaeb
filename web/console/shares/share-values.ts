import { changedFieldsBy } from '#console/records/record-editor.tsx';
import { formatList, parseList } from '#core/list-text.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';
import { type PermissionFlags, permissions, presets } from './permissions.ts';

/** A share as its form holds it: lists as lists, instants in the operator's own time. */
export interface ShareValues extends PermissionFlags, Record<string, unknown> {
  readonly title: string;
  readonly description: string;
  readonly startupMessage: string;
  readonly location: string;
  readonly path: string;
  readonly folder: boolean;
  readonly authenticationId: number;
  /** Visitors sign in by a password of this link alone, in place of the login profile. */
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
  readonly waterMarkText: string;
  readonly digitalSignature: boolean;
  readonly digitalSignReason: string;
  readonly active: boolean;
  readonly proxyMode: boolean;
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** An instant as the operator's clock shows it. */
export function localTime(instant: string | null): string {
  if (!instant) return '';
  const at = new Date(instant);
  const day = `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
  return `${day} ${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}:${twoDigits(at.getSeconds())}`;
}

/** The instant at which the operator's clock shows that; null: none. */
export const instantOf = (local: string): string | null => (local === '' ? null : new Date(local.replace(' ', 'T')).toISOString());

/** What a new share begins with: to look and to download, and nobody yet. */
export const newShareValues = (location: string, authenticationId: number): ShareValues => ({
  ...presets.download.can,
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
  waterMarkText: '',
  digitalSignature: false,
  digitalSignReason: '',
  active: true,
  proxyMode: true,
});

/** A share as it was answered, for its form. */
export function shareValuesOf(share: Share): ShareValues {
  const empty = newShareValues(share.location, share.authenticationId);
  const same = Object.fromEntries(Object.keys(empty).flatMap((name) => (name in share ? [[name, Reflect.get(share, name)]] : [])));
  return {
    ...empty,
    ...same,
    users: parseList(share.userNames) ?? [],
    groups: parseList(share.groupNames) ?? [],
    emails: parseList(share.notifyEmails) ?? [],
    from: localTime(share.validityStartDate),
    until: localTime(share.validityEndDate),
  };
}

/** The form as share/add and share/update take it. */
export function shareBodyOf({ users, groups, emails, from, until, ownPassword, linkPassword, ...rest }: ShareValues) {
  return {
    ...rest,
    ...(ownPassword ? { linkPassword, allowAllUsers: true } : {}),
    userNames: formatList(users),
    groupNames: formatList(groups),
    notifyEmails: formatList(emails),
    validityStartDate: instantOf(from),
    validityEndDate: instantOf(until),
  };
}

const fieldLabels: Readonly<Record<string, string>> = {
  title: 'title',
  description: 'description',
  startupMessage: 'message',
  authenticationId: 'login profile',
  ownPassword: 'password for this link',
  linkPassword: 'password for this link',
  allowAllUsers: 'who',
  users: 'who',
  groups: 'who',
  from: 'beginning',
  until: 'end',
  emails: 'who is told',
  copyProtect: 'copy protection',
  waterMarkText: 'watermark',
  digitalSignature: 'signature',
  digitalSignReason: 'reason of the signature',
  active: 'whether it is switched on',
  proxyMode: 'how bytes travel',
};

const alertLabels = Object.fromEntries(
  ['View', 'Download', 'Upload', 'CreateFolder', 'Rename', 'Delete'].map((name) => [`alert${name}`, 'alerts']),
);

/** What the interface calls otherwise than the form. */
export const shareFieldNames = {
  userNames: 'users',
  groupNames: 'groups',
  notifyEmails: 'emails',
  validityStartDate: 'from',
  validityEndDate: 'until',
};

/** In words, the fields that differ. */
export const changedShareFields = changedFieldsBy<ShareValues>({
  ...fieldLabels,
  ...alertLabels,
  ...Object.fromEntries(permissions.map(({ flag }) => [flag, 'permissions'])),
});

/** Kinds whose visitors have names of their own to be chosen by. */
export const hasNames = (typeId: number | undefined) =>
  typeId !== undefined && typeId !== profileTypes.PUBLIC && typeId !== profileTypes.PASSWORD;
export const hasGroups = (typeId: number | undefined) => typeId !== undefined && typeId >= profileTypes.OIDC;
