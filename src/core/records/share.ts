import Type, { type Static } from 'typebox';
import {
  bodyOf,
  count,
  etag,
  flag,
  freeText,
  instant,
  limitField,
  limits,
  lineOf,
  listOf,
  orNull,
  recordId,
  requiredLine,
  stampFields,
} from './field.ts';
import { StoredFields } from './stored-fields.ts';

/** All fields of a share. Types, validation and documentation are derived from them. */
export const shareFields = {
  id: recordId('Number of the share, unique in the installation.'),
  title: requiredLine(limits.name, 'Name of the share, shown to the visitor.'),
  location: requiredLine(limits.name, 'Name of a configured storage location.'),
  notifyEmails: listOf('E-mail addresses that are notified, separated by commas.'),
  path: requiredLine(limits.path, 'Shared file or folder within the location; `/` is the root. Visitors cannot access anything outside.'),
  viewId: lineOf(64, { description: 'Id of the shareable link.' }),
  viewUrl: lineOf(limits.path, { description: 'URL of the shareable link.' }),
  authViewId: lineOf(64, { description: "viewId of the login profile's portal; empty: it has no portal." }),
  authViewUrl: lineOf(limits.path, { description: "URL of the login profile's portal; empty: it has no portal." }),
  enableAuthview: flag('Whether the login profile has a portal.'),
  description: freeText('Shown to the visitor below the title.'),
  startupMessage: freeText('Shown to the visitor before the listing.'),
  tid: recordId('Tenant that owns the share.'),
  authenticationId: recordId('Login profile that governs how visitors sign in.'),
  authTypeId: Type.Integer({ description: "Type of the login profile, as a number (see a profile's typeId)." }),
  authTypeIdStr: lineOf(32, { description: 'Type of the login profile, as a name.' }),
  allowedLogins: count('Number of active access users that the share admits; 0 if the login profile has no access users.'),
  canDelete: flag('Visitors may delete files and folders.'),
  canUpload: flag('Visitors may upload new files. To replace a file, they need canDelete too.'),
  canCreateFolder: flag('Visitors may create folders.'),
  canDownload: flag('Visitors may download files.'),
  canDownloadFolder: flag('Visitors may download folders as a ZIP file.'),
  canView: flag('Visitors may view files in the browser. This does not prevent them from saving what they see.'),
  canRename: flag('Visitors may rename files and folders.'),
  alertDelete: flag('Sends an e-mail to notifyEmails when a file or folder is deleted.'),
  alertUpload: flag('Sends an e-mail to notifyEmails when a file is uploaded.'),
  alertCreateFolder: flag('Sends an e-mail to notifyEmails when a folder is created.'),
  alertDownload: flag('Sends an e-mail to notifyEmails when a file or folder is downloaded.'),
  alertView: flag('Sends an e-mail to notifyEmails when a file is viewed.'),
  alertRename: flag('Sends an e-mail to notifyEmails when a file or folder is renamed.'),
  copyProtect: flag(
    'PDF files, images, and Office documents if LibreOffice is installed, are shown as pages with a watermark. The original files are never sent.',
  ),
  copyProtectText: flag(
    'Visitors of a share with copyProtect or waterMarkText can also read the text of the pages (`page-text`), for example with a screen reader. They can copy it.',
  ),
  waterMarkText: lineOf(limits.text, {
    description:
      'Watermark on every page that visitors view, and on the PDF files and images that they download. {user}, {email}, {ip} and {date} are replaced. Other files are not sent, and archives (`zip`) leave them out.',
  }),
  digitalSignReason: lineOf(limits.text, { description: 'Reason given in the digital signature.' }),
  digitalSignature: flag(
    'Downloaded PDF files are digitally signed with the certificate of the tenant. A PDF file that cannot be signed cannot be downloaded.',
  ),
  groupNames: listOf(
    'Groups of the identity provider or directory whose members are admitted, separated by commas. An entry with a comma, such as a DN, must be in double quotes.',
  ),
  userNames: listOf('Admitted users, separated by commas. An entry with a comma must be in double quotes.'),
  allowAllUsers: flag(
    'true: everyone who signs in with the login profile is admitted, or everyone with the link if it needs no sign-in; false: only the listed users and groups.',
  ),
  validityStartDate: instant('Start of the validity. Before it, requests to the link get 404, as for an unknown link. null: no start.'),
  validityEndDate: instant('End of the validity. From this instant on, the link has expired. null: no end.'),
  linkPassword: lineOf(limits.password, {
    minLength: 10,
    description:
      'A password for this link only, 10 to 256 characters. The share gets its own login profile with the ipRange, lang and startupMessage of the profile in authenticationId. Never returned.',
  }),
  proxyMode: flag(
    'true: Postern itself sends the files. false: if the storage supports signed addresses, also called presigned URLs (kind `s3`, and kind `azure` with an account key), the download of a file is redirected (302) to a signed address of the storage, which is valid for 60 seconds. Postern handles the download itself if the share has `copyProtect`, `waterMarkText` or `digitalSignature` (then the download may be refused), if the share expires within that time, if the login profile has an `ipRange`, or if the file may have to be restored from an archive first.',
  ),
  maxBytes: limitField(
    'Quota: how many bytes the files below the path may have together, no matter who stored them. Uploads at the link beyond it get 507. null: no limit.',
  ),
  maxFiles: limitField('Quota: how many files there may be below the path. Uploads at the link beyond it get 507. null: no limit.'),
  folder: flag('Whether the path is a folder.'),
  active: flag('false: requests to the link get 404, as for an unknown link.'),
  ...stampFields,
};

const { linkPassword: _, ...responseFields } = shareFields;

/** A share in responses. */
export const Share = Type.Object({
  ...responseFields,
  validityStartDate: orNull(shareFields.validityStartDate),
  validityEndDate: orNull(shareFields.validityEndDate),
  maxBytes: orNull(shareFields.maxBytes),
  maxFiles: orNull(shareFields.maxFiles),
  etag,
});
export type Share = Static<typeof Share>;

const permissions = ['canDelete', 'canUpload', 'canCreateFolder', 'canDownload', 'canDownloadFolder', 'canView', 'canRename'] as const;
const alerts = ['alertDelete', 'alertUpload', 'alertCreateFolder', 'alertDownload', 'alertView', 'alertRename'] as const;

/** The flags and texts of a share that are stored as they are. Their columns are derived from their names. */
export const storedShareFields = new StoredFields({
  flags: [
    ...permissions,
    ...alerts,
    'copyProtect',
    'copyProtectText',
    'digitalSignature',
    'allowAllUsers',
    'proxyMode',
    'folder',
    'active',
  ],
  texts: ['title', 'description', 'startupMessage', 'waterMarkText', 'digitalSignReason'],
});

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
  'copyProtectText',
  'waterMarkText',
  'digitalSignReason',
  'digitalSignature',
  'groupNames',
  'validityStartDate',
  'validityEndDate',
  'maxBytes',
  'maxFiles',
  'linkPassword',
] as const;

/** Body of share/add. The required fields are part of the published interface and must not change. */
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

/** Body of share/update. An optional field that is absent keeps its value. */
export const ShareChange = bodyOf(
  shareFields,
  ['id', 'title', 'authenticationId', ...permissions, 'allowAllUsers', 'folder', 'proxyMode', 'active'],
  [...optionalFields, 'alertDelete', 'userNames'],
);
export type ShareChange = Static<typeof ShareChange>;

/** States of a share's link. share/search filters by them. */
export const shareStates = ['active', 'scheduled', 'ended', 'inactive'] as const;
export type ShareState = (typeof shareStates)[number];
