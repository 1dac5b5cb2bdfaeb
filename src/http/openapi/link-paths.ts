import {
  CodeRequestBody,
  DocumentPages,
  Listing,
  PasswordChangeBody,
  PasswordResetBody,
  PortalVisit,
  RenameBody,
  SignInBody,
  Visit,
} from '#core/records/visit.ts';
import { listingExample, portalExample, visitExample } from './link-examples.ts';
import { bytes, header, json, path, query, route } from './link-route.ts';

const name = { type: 'object', properties: { name: { type: 'string' } } };

const signIn = (id: string, response: object, visited: object) => ({
  post: route(id, {
    summary: 'Signs in with the required credentials, such as a password or a code, and sets the session cookie.',
    body: json(SignInBody, { username: 'ann', password: 'correct horse battery' }),
    responses: { 200: json(response, visited) },
  }),
});
const startSignIn = (id: string) => ({
  get: route(id, {
    summary: 'Redirects the browser to the provider for the sign-in. Afterwards, the browser returns to the page of the link or portal.',
    responses: { 303: {} },
  }),
});
const requestCode = (id: string, code: string) => ({
  post: route(id, {
    summary: `Sends an e-mail with a code ${code}. The code is valid only with the cookie that the response sets. The response is the same for every address.`,
    body: json(CodeRequestBody, { email: 'ann@example.com' }),
    responses: { 202: {} },
  }),
});
const resetPassword = (id: string) => ({
  post: route(id, {
    summary: 'Sets a new password with a code from an e-mail, ends the other sessions of the access user, and sets the session cookie.',
    body: json(PasswordResetBody, { email: 'ann@example.com', code: '123456', password: 'another long password' }),
    responses: { 204: {} },
  }),
});
const signOut = (id: string) => ({
  post: route(id, {
    summary:
      'Signs out. If visitors sign in at an OpenID provider that supports sign-out, the response has an address: a browser that opens it is signed out at the provider too.',
    responses: {
      200: json({ type: 'object', properties: { url: { type: 'string' } } }, { url: 'https://login.example.com/logout' }),
      204: {},
    },
  }),
});
const password = (id: string) => ({
  post: route(id, {
    summary: 'Changes the password of the signed-in access user, and ends their other sessions.',
    body: json(PasswordChangeBody, { currentPassword: 'correct horse battery', password: 'another long password' }),
    responses: { 204: {} },
  }),
});
const redirectToStorage = {
  description:
    'The file is in a storage with signed addresses, and proxyMode of the share is false: Location is an address of the storage that is valid for a minute.',
  headers: { Location: { schema: { type: 'string', format: 'uri' } } },
};
const ranges = [
  header('Range', 'Requested bytes (RFC 9110, 14.2).'),
  header('If-Range', 'Returns the range only if the ETag or the date is the same (RFC 9110, 13.1.5).'),
  header('If-None-Match', 'Returns 304 if the ETag is the same (RFC 9110, 13.1.2).'),
];

/** A picture of a page. */
const picture = { ...bytes('image/jpeg'), ...bytes('image/png') };

/** The paths of links and portals, except those of resumable uploads, which tus defines. */
export const linkPaths = {
  '/s/{viewId}': {
    get: route('link_page', {
      summary: 'Returns the HTML page of the link.',
      responses: { 200: { 'text/html': { schema: { type: 'string' } } } },
    }),
  },
  '/s/{viewId}/visit': {
    get: route('link_visit', {
      summary: 'Returns the ways to sign in, the signed-in visitor, and the allowed actions.',
      responses: { 200: json(Visit, visitExample) },
    }),
  },
  '/s/{viewId}/sign-in': signIn('link_sign_in', Visit, visitExample),
  '/s/{viewId}/sign-in/start': startSignIn('link_start_sign_in'),
  '/s/{viewId}/sign-in/code': requestCode('link_request_code', 'to sign in'),
  '/s/{viewId}/sign-out': signOut('link_sign_out'),
  '/s/{viewId}/password': password('link_change_password'),
  '/s/{viewId}/password/code': requestCode('link_request_password_code', 'to set a new password'),
  '/s/{viewId}/password/reset': resetPassword('link_reset_password'),
  '/s/{viewId}/list/{path}': {
    get: route('link_list', {
      summary: 'Returns a page of a folder listing. Requires canView or canDownload.',
      parameters: [
        path,
        query(
          'startIndex',
          { type: 'integer' },
          'Index of the first entry, starting at 0. Pages that do not begin at 0 may show the state of up to 30 seconds ago.',
        ),
        query('pageSize', { type: 'integer', maximum: 10_000 }, 'Default 1000.'),
        query('sortField', { enum: ['name', 'size', 'modifiedDateTime'] }, 'Default name.'),
        query('sortOrder', { type: 'string' }, 'Default ascending.'),
        query('searchWord', { type: 'string' }, 'Substring of the name.'),
      ],
      responses: { 200: json(Listing, listingExample) },
    }),
  },
  '/s/{viewId}/pages/{path}': {
    get: route('link_document_pages', {
      summary: 'Returns the sizes of the pages of a PDF or an Office document, or the size of an image. Requires canView.',
      parameters: [path],
      responses: { 200: json(DocumentPages, { pages: [{ number: 1, width: 595, height: 842 }], totalCount: 1 }) },
    }),
  },
  '/s/{viewId}/page/{path}': {
    get: route('link_document_page', {
      summary:
        'Returns a page of a PDF or an Office document, or an image, as a picture: with a watermark if the share requires one. Requires canView.',
      parameters: [
        path,
        query('number', { type: 'integer', minimum: 1 }, 'Number of the page, starting at 1. Default 1.'),
        query('width', { type: 'integer', minimum: 16, maximum: 4096 }, 'Pixels. Default 1024. PDF pages have at most 8 million pixels.'),
      ],
      responses: { 200: picture },
    }),
  },
  '/s/{viewId}/page-text/{path}': {
    get: route('link_page_text', {
      summary:
        'Returns the text of a page of a PDF or Office document. Requires canView, and copyProtectText if the share requires a watermark.',
      parameters: [path, query('number', { type: 'integer', minimum: 1 }, 'Number of the page, starting at 1. Default 1.')],
      responses: { 200: bytes('text/plain') },
    }),
  },
  '/s/{viewId}/thumbnail/{path}': {
    get: route('link_thumbnail', {
      summary: 'Returns the first page of a PDF or an Office document, or an image, as a small picture. Requires canView.',
      parameters: [path, query('size', { type: 'integer', minimum: 32, maximum: 1024 }, 'Pixels of the longer side. Default 256.')],
      responses: { 200: picture },
    }),
  },
  '/s/{viewId}/file/{path}': {
    get: route('link_file', {
      summary: 'Returns the bytes of a file, or an address of its storage. Requires canDownload.',
      parameters: [path, ...ranges],
      responses: { 200: bytes('application/octet-stream'), 206: bytes('application/octet-stream'), 304: {} },
      redirects: { 302: redirectToStorage },
    }),
    put: route('link_upload', {
      summary: 'Stores the body as a file. Requires canUpload, and canDelete to replace a file.',
      parameters: [path, header('If-Match', 'ETag of the file to replace.')],
      body: bytes('application/octet-stream'),
      responses: {
        201: json(
          { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer' }, sha256: { type: 'string' } } },
          { name: 'report.pdf', size: 5, sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824' },
        ),
      },
    }),
    delete: route('link_delete', {
      summary: 'Deletes a file, or a folder with everything in it. Requires canDelete.',
      parameters: [path, { $ref: '#/components/parameters/idempotencyKey' }],
      responses: { 204: {} },
    }),
  },
  '/s/{viewId}/view/{path}': {
    get: route('link_view', {
      summary: 'Returns a file for display. Requires canView.',
      parameters: [path, ...ranges],
      responses: { 200: bytes('application/octet-stream'), 206: bytes('application/octet-stream'), 304: {} },
    }),
  },
  '/s/{viewId}/zip/{path}': {
    get: route('link_zip', {
      summary:
        'Returns a folder, or selected entries of it, as a ZIP file. Requires canDownloadFolder. If its layout can be planned (usually up to 50,000 entries, and not with digitalSignature), the response has Content-Length and ETag, and supports ranges.',
      parameters: [
        path,
        query('name', { type: 'array', items: { type: 'string' } }, 'Name of an entry to include; may be repeated.'),
        ...ranges,
      ],
      responses: { 200: bytes('application/zip'), 206: bytes('application/zip'), 304: {} },
    }),
  },
  '/s/{viewId}/folder/{path}': {
    post: route('link_folder', {
      summary: 'Creates a folder. Requires canCreateFolder.',
      parameters: [path, { $ref: '#/components/parameters/idempotencyKey' }],
      responses: { 201: json(name, { name: 'Reports' }) },
    }),
  },
  '/s/{viewId}/rename': {
    post: route('link_rename', {
      summary: 'Renames a file or folder within its folder. Requires canRename.',
      parameters: [{ $ref: '#/components/parameters/idempotencyKey' }],
      body: json(RenameBody, { path: 'Reports/report.pdf', name: 'report of May.pdf' }),
      responses: { 200: json(name, { name: 'report of May.pdf' }) },
    }),
  },
  '/p/{viewId}': {
    get: route('portal_page', {
      summary: "Returns the HTML page of a login profile's portal.",
      responses: { 200: { 'text/html': { schema: { type: 'string' } } } },
    }),
  },
  '/p/{viewId}/visit': {
    get: route('portal_visit', {
      summary: 'Returns the ways to sign in, the signed-in visitor, and the shares that they may open, ordered by title.',
      parameters: [
        query('startIndex', { type: 'integer' }, 'Index of the first share, starting at 0.'),
        query('pageSize', { type: 'integer', maximum: 1000 }, 'Default 1000.'),
      ],
      responses: { 200: json(PortalVisit, portalExample) },
    }),
  },
  '/p/{viewId}/sign-in': signIn('portal_sign_in', PortalVisit, portalExample),
  '/p/{viewId}/sign-in/start': startSignIn('portal_start_sign_in'),
  '/p/{viewId}/sign-in/code': requestCode('portal_request_code', 'to sign in'),
  '/p/{viewId}/sign-out': signOut('portal_sign_out'),
  '/p/{viewId}/password': password('portal_change_password'),
  '/p/{viewId}/password/code': requestCode('portal_request_password_code', 'to set a new password'),
  '/p/{viewId}/password/reset': resetPassword('portal_reset_password'),
};
