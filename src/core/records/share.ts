import Type, { type Static } from 'typebox';
import { bodyOf, count, etag, flag, freeText, instant, limits, lineOf, listOf, orNull, recordId, requiredLine } from './field.ts';

/** All fields of a share. Types, validation and documentation are derived from them. */
export const shareFields = {
  id: recordId('Number of the share, unique in the installation.'),
  title: requiredLine(limits.name, 'Name of the share, shown to the visitor.'),
  location: requiredLine(limits.name, 'Name of a configured storage location.'),
  notifyEmails: listOf('E-mail addresses that are notified, separated by commas.'),
  path: requiredLine(limits.path, 'File or folder within the location that is shared; `/` is the root. It is never left.'),
  viewId: lineOf(64, { description: 'Id of the shareable link.' }),
  viewUrl: lineOf(limits.path, { description: 'Address of the shareable link.' }),
  authViewId: lineOf(64, { description: "View id of the login profile's portal; empty where there is none." }),
  authViewUrl: lineOf(limits.path, { description: "Address of the login profile's portal; empty where there is none." }),
  enableAuthview: flag('Whether the login profile has a portal.'),
  description: freeText('Shown to the visitor below the title.'),
  startupMessage: freeText('Shown to the visitor before the listing.'),
  tid: recordId('Tenant that owns the share.'),
  authenticationId: recordId('Login profile that governs how visitors sign in.'),
  authTypeId: Type.Integer({ description: "Type of the login profile, as a number (see a profile's typeId)." }),
  authTypeIdStr: lineOf(32, { description: 'Type of the login profile, as a word.' }),
  allowedLogins: count('How many active access users the share admits; 0 where the profile keeps no users of its own.'),
  canDelete: flag('Visitors may delete files and folders.'),
  canUpload: flag('Visitors may upload new files; over an existing one only with canDelete too.'),
  canCreateFolder: flag('Visitors may create folders.'),
  canDownload: flag("Visitors may take a file's bytes."),
  canDownloadFolder: flag('Visitors may take a folder as a zip.'),
  canView: flag('Visitors can view files in the browser; a determined visitor can save what they see.'),
  canRename: flag('Visitors may rename files and folders.'),
  alertDelete: flag('An e-mail to notifyEmails when something is deleted.'),
  alertUpload: flag('An e-mail to notifyEmails when a file is uploaded.'),
  alertCreateFolder: flag('An e-mail to notifyEmails when a folder is created.'),
  alertDownload: flag('An e-mail to notifyEmails when something is downloaded.'),
  alertView: flag('An e-mail to notifyEmails when a file is looked at.'),
  alertRename: flag('An e-mail to notifyEmails when something is renamed.'),
  copyProtect: flag('Files are shown as marked pages only; the original is never sent to be viewed.'),
  waterMarkText: lineOf(limits.text, {
    description: 'Drawn across every page shown or downloaded; {user}, {email}, {ip} and {date} are filled in.',
  }),
  digitalSignReason: lineOf(limits.text, { description: 'Reason given in the digital signature.' }),
  digitalSignature: flag('A PDF that is downloaded is signed.'),
  groupNames: listOf('Groups of the identity provider whose members are admitted, separated by commas.'),
  userNames: listOf('Users who are admitted, separated by commas; an entry that holds a comma stands in double quotes.'),
  allowAllUsers: flag('true: whoever signs in by the profile is admitted; false: only the listed users and groups.'),
  validityStartDate: instant('Before this instant the link answers as unknown; null: from the beginning.'),
  validityEndDate: instant('From this instant on the link has ended; null: it does not end.'),
  linkPassword: lineOf(limits.password, {
    minLength: 10,
    description:
      'A password for this link alone, 10 to 256 characters: the share gets a login profile of its own, with the address range, language and message of authenticationId. Never answered.',
  }),
  proxyMode: flag('true: bytes flow through the service.'),
  folder: flag('Whether the path is a folder.'),
  active: flag('false: the link answers as unknown.'),
  createdOwner: lineOf(limits.name, { description: 'Key or operator that made the record.' }),
  updatedOwner: lineOf(limits.name, { description: 'Key or operator that changed it last.' }),
  createDateTime: instant('When the record was made.'),
  updateDateTime: instant('When it was changed last.'),
};

const { linkPassword: _, ...responseFields } = shareFields;

/** A share in responses. */
export const Share = Type.Object({
  ...responseFields,
  validityStartDate: orNull(shareFields.validityStartDate),
  validityEndDate: orNull(shareFields.validityEndDate),
  etag,
});
export type Share = Static<typeof Share>;

const permissions = ['canDelete', 'canUpload', 'canCreateFolder', 'canDownload', 'canDownloadFolder', 'canView', 'canRename'] as const;
const optionalFields = [
  'notifyEmails',
  'description',
  'startupMessage',
  'alertUpload',
  'alertCreateFolder',
  'alertDownload',
  'alertView',
  'alertRename',
  'copyProtect',
  'waterMarkText',
  'digitalSignReason',
  'digitalSignature',
  'groupNames',
  'validityStartDate',
  'validityEndDate',
  'linkPassword',
] as const;

/** Body of share/add. The required fields are exactly those of interface.md. */
export const NewShare = bodyOf(
  shareFields,
  [
    'title',
    'location',
    'path',
    'authenticationId',
    ...permissions,
    'alertDelete',
    'userNames',
    'allowAllUsers',
    'proxyMode',
    'folder',
    'active',
  ],
  optionalFields,
);
export type NewShare = Static<typeof NewShare>;

/** Body of share/update. An absent optional field does not change. */
export const ShareChange = bodyOf(
  shareFields,
  ['id', 'title', 'authenticationId', ...permissions, 'allowAllUsers', 'folder', 'proxyMode', 'active'],
  [...optionalFields, 'alertDelete', 'userNames'],
);
export type ShareChange = Static<typeof ShareChange>;

/** States of a share's link. share/search filters by them. */
export const shareStates = ['active', 'scheduled', 'ended', 'inactive'] as const;
export type ShareState = (typeof shareStates)[number];
