import Type, { type Static } from 'typebox';
import { instant, limits, orNull } from './field.ts';
import { shareFields } from './share.ts';

const text = (description: string) => Type.String({ description });
const strict = { additionalProperties: false } as const;

const signIn = Type.Object({
  typeId: Type.Integer({ description: "The login profile's type." }),
  typeString: text('The type as a name.'),
  title: text(
    "The login profile's title. Empty before sign-in if `linkPassword` created the profile, because that title contains the share's title.",
  ),
  startupMessage: text('Shown on the sign-in page.'),
  lang: text("Language of the visitor's pages; empty: the language of the browser."),
  asksPassword: Type.Boolean({ description: 'true: visitors sign in with a password.' }),
  asksCode: Type.Boolean({ description: 'true: visitors sign in with a code that is sent to their e-mail address.' }),
  asksProvider: Type.Boolean({ description: 'true: visitors sign in at a provider; `sign-in/start` leads there.' }),
  asksUsername: Type.Boolean({ description: 'If asksPassword is true: whether visitors enter a user name too.' }),
  canChangePassword: Type.Boolean({ description: 'true: each visitor has a password of their own, and can change it.' }),
  canResetPassword: Type.Boolean({
    description: 'true: a visitor who has forgotten the password can set a new one with a code that is sent to their e-mail address.',
  }),
  signedIn: Type.Boolean({ description: 'true: no sign-in is needed any more. Always true for a PUBLIC profile.' }),
});
const signedInVisitor = Type.Object({
  name: text(
    'Display name. For an access user: the user name. At a profile of type PASSWORD: the user name of the profile, or empty. At EMAIL_CODE, for other visitors: the e-mail address. Otherwise: the name that the identity provider or directory sends; if it sends none, an identifier such as the user name, the subject or the NameID.',
  ),
  email: text('E-mail address, or empty.'),
});
const visitor = Type.Unsafe<Static<typeof signedInVisitor> | null>({
  ...signedInVisitor,
  type: ['object', 'null'],
  description: 'The signed-in visitor; null: anonymous.',
});

const permissions = Type.Object({
  view: Type.Boolean(),
  download: Type.Boolean(),
  downloadFolder: Type.Boolean(),
  upload: Type.Boolean(),
  createFolder: Type.Boolean(),
  rename: Type.Boolean(),
  delete: Type.Boolean(),
});
const quota = Type.Object({
  maxBytes: orNull(shareFields.maxBytes),
  usedBytes: Type.Integer({ description: 'Bytes of the stored files and of the uploads under way.' }),
  maxFiles: orNull(shareFields.maxFiles),
  usedFiles: Type.Integer({ description: 'Number of the stored files and of the uploads under way.' }),
});

const visibleShare = Type.Object({
  title: shareFields.title,
  description: shareFields.description,
  startupMessage: shareFields.startupMessage,
  folder: shareFields.folder,
  name: text('Name of the shared file or folder.'),
  can: permissions,
  copyProtect: shareFields.copyProtect,
  marked: Type.Boolean({
    description: 'true: PDF files, images and Office documents are shown with a watermark (`pages`, `page`). Other files are not sent.',
  }),
  officePages: Type.Boolean({
    description: 'true: Office documents have pages (`pages`, `page`). false: the server does not draw them.',
  }),
  pageText: Type.Boolean({ description: 'true: the text of the pages can be read (`page-text`).' }),
  markedDownload: Type.Boolean({ description: 'true: a visitor who may download gets PDF files and images with the watermark.' }),
  validityEndDate: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description: 'When the link expires.' }),
  maxFileSize: Type.Integer({ description: 'Largest upload accepted, in bytes.' }),
  quota: Type.Unsafe<Static<typeof quota> | null>({
    ...quota,
    type: ['object', 'null'],
    description: 'What the share may hold, for visitors who may upload. null: no limit, or the visitor may not upload.',
  }),
});

/** Response of `visit` and of a sign-in at a link. Before sign-in, `share` is null. */
export const Visit = Type.Object({
  signIn,
  visitor,
  share: Type.Unsafe<Static<typeof visibleShare> | null>({ ...visibleShare, type: ['object', 'null'] }),
});
export type Visit = Static<typeof Visit>;

const portalShare = Type.Object({
  title: text('Name of the share.'),
  description: text('Shown below the title.'),
  viewUrl: text('Address of the link.'),
  folder: Type.Boolean(),
  validityEndDate: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
});
/** Response of `visit` and of a sign-in at a portal: one page of the shares that admit this visitor now. */
export const PortalVisit = Type.Object({
  signIn,
  visitor,
  shares: Type.Array(portalShare, { description: 'Ordered by title.' }),
  totalCount: Type.Integer({ description: 'Number of shares that admit this visitor now. Use `startIndex` for further pages.' }),
});
export type PortalVisit = Static<typeof PortalVisit>;

const email = Type.String({ maxLength: limits.email, description: "The visitor's e-mail address." });

/** Body of the request that signs a visitor in. Which members are required depends on the kind of sign-in. */
export const SignInBody = Type.Object(
  {
    username: Type.Optional(Type.String({ maxLength: 255, description: 'User name, if the link asks for one.' })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Password, at a link that asks for one.' })),
    email: Type.Optional(email),
    code: Type.Optional(Type.String({ maxLength: 64, description: 'The code from the mail. Spaces and hyphens in it are ignored.' })),
  },
  strict,
);
export type SignInBody = Static<typeof SignInBody>;

/** Body of the request for a code. */
export const CodeRequestBody = Type.Object({ email }, strict);
export type CodeRequestBody = Static<typeof CodeRequestBody>;

/** Body of the request with which visitors change their own password. */
export const PasswordChangeBody = Type.Object(
  {
    currentPassword: Type.String({ minLength: 1, maxLength: 256, description: 'The current password.' }),
    password: Type.String({ minLength: 10, maxLength: 256, description: 'The new password.' }),
  },
  strict,
);
export type PasswordChangeBody = Static<typeof PasswordChangeBody>;

/** Body of the request with which visitors who have forgotten their password set a new one. */
export const PasswordResetBody = Type.Object(
  {
    email,
    code: Type.String({ minLength: 1, maxLength: 64, description: 'The code from the mail. Spaces and hyphens in it are ignored.' }),
    password: Type.String({ minLength: 10, maxLength: 256, description: 'The new password.' }),
  },
  strict,
);
export type PasswordResetBody = Static<typeof PasswordResetBody>;

export const RenameBody = Type.Object(
  { path: Type.String({ maxLength: 4096 }), name: Type.String({ minLength: 1, maxLength: 255 }) },
  strict,
);

/** Fields by which a folder can be sorted. */
export const listingSortFields = ['name', 'size', 'modifiedDateTime'] as const;

/** Schema of the time at which a file or folder was last changed. */
export const lastChange = orNull(instant('When the file or folder was last changed. null: a folder in a storage that keeps no such time.'));

const ListingEntry = Type.Object({
  name: text('Name of the file or folder.'),
  folder: Type.Boolean({ description: 'Whether it is a folder.' }),
  size: Type.Integer({ description: 'Bytes; 0 for a folder.' }),
  modifiedDateTime: lastChange,
  mediaType: text('Media type by the file extension. Only a hint.'),
  etag: text('ETag of the file, strong or weak (`W/`); empty for a folder.'),
});
/** Response of `list`. */
export const Listing = Type.Object({
  path: text('Path relative to the share.'),
  entries: Type.Array(ListingEntry),
  startIndex: Type.Integer(),
  pageSize: Type.Integer(),
  resultCount: Type.Integer(),
  totalCount: Type.Integer(),
});
export type Listing = Static<typeof Listing>;

export const DocumentPages = Type.Object({
  pages: Type.Array(
    Type.Object({
      number: Type.Integer({ description: 'Number of the page, starting at 1.' }),
      width: Type.Number({ description: 'Width as shown: of an image in pixels, of other documents in points.' }),
      height: Type.Number({ description: 'Height, in the same unit.' }),
    }),
  ),
  totalCount: Type.Integer(),
});
export type DocumentPages = Static<typeof DocumentPages>;
