import type { CodeUse } from '#core/mail/code-mail.ts';
import type { DocumentPages, Listing, PasswordResetBody, PortalVisit, SignInBody, Visit } from '#core/records/visit.ts';

/** An error response of the server, or an error that the page has found itself, such as a lost connection. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds to wait before the next attempt, if the server sent them. */
  readonly retryAfter: number | null;
  constructor(status: number, code: string, detail: string, retryAfter: number | null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Returns the failure of a request whose response did not arrive, or not completely. */
export const offlineFailure = () => new Failure(0, 'offline', '', null);

/** Returns the failure for a file that was moved, changed or deleted on the visitor's device after it was chosen. */
export const unreadableFailure = () => new Failure(0, 'fileUnreadable', '', null);

export const asFailure = (cause: unknown) => (cause instanceof Failure ? cause : new Failure(0, '', '', null));

/** `/s/…` or `/p/…`. The page sends all requests for data to addresses below this path. */
export const linkPath = window.location.pathname.replace(/\/$/, '');
export const isPortal = linkPath.startsWith('/p/');

const encodePath = (path: readonly string[]) => path.map((segment) => `/${encodeURIComponent(segment)}`).join('');
export const addressOf = (
  route: 'file' | 'view' | 'pages' | 'page' | 'page-text' | 'thumbnail' | 'zip' | 'list' | 'folder' | 'upload',
  path: readonly string[],
) => `${linkPath}/${route}${encodePath(path)}`;

/** The codes for responses without a problem document: to HEAD, or from a proxy in front of Postern. */
const codeByStatus: Readonly<Record<number, string>> = {
  401: 'signInNeeded',
  403: 'permissionOff',
  404: 'itemAbsent',
  410: 'linkEnded',
  415: 'cannotBeViewed',
  429: 'tooManyFailures',
  502: 'storageAway',
  503: 'storageAway',
  504: 'storageAway',
};

/** Parses a problem document (RFC 9457). */
export function parseFailure(status: number, text: string, retryAfter: string | null): Failure {
  const seconds = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : null;
  try {
    const problem: { code?: string; detail?: string } = JSON.parse(text);
    return new Failure(status, problem.code ?? '', problem.detail ?? '', seconds);
  } catch {
    return new Failure(status, codeByStatus[status] ?? '', '', seconds);
  }
}

/** Waits for a response or for its body. @throws Failure with the code `offline` if the connection is lost or the request is aborted */
export const orOffline = <T>(received: Promise<T>): Promise<T> =>
  received.catch(() => {
    throw offlineFailure();
  });

/** Returns the failure that an error response reports. @throws Failure with the code `offline` if the connection is lost */
export const failureOf = async (response: Response): Promise<Failure> =>
  parseFailure(response.status, await orOffline(response.text()), response.headers.get('retry-after'));

/** Sends a request. @returns the JSON of the response; each route has its own type @throws Failure */
async function requestJson(path: string, init: RequestInit = {}) {
  const response = await orOffline(fetch(path, { ...init, headers: { accept: 'application/json', ...init.headers } }));
  if (!response.ok) throw await failureOf(response);
  const text = await orOffline(response.text());
  return text === '' ? null : JSON.parse(text);
}

const post = (path: string, body?: object) =>
  requestJson(path, { method: 'POST', ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}) });

/** Returns the state of the sign-in, and the share of the link or the shares of the portal. */
export const fetchVisit = (): Promise<Visit | PortalVisit> => requestJson(`${linkPath}/visit`);
/** Returns the next shares of a portal. @param startIndex index of the first share */
export const fetchPortalPage = (startIndex: number): Promise<PortalVisit> => requestJson(`${linkPath}/visit?startIndex=${startIndex}`);
export const signIn = (credentials: SignInBody): Promise<Visit | PortalVisit> => post(`${linkPath}/sign-in`, credentials);
export const requestCode = (email: string, use: CodeUse): Promise<void> =>
  post(`${linkPath}/${use === 'signIn' ? 'sign-in' : 'password'}/code`, { email });
/** Signs out. @returns the address at which the visitor signs out at the provider too, or null */
export const signOut = async (): Promise<string | null> => (await post(`${linkPath}/sign-out`))?.url ?? null;
export const changePassword = (currentPassword: string, password: string): Promise<void> =>
  post(`${linkPath}/password`, { currentPassword, password });
/** Sets a new password with a code from a mail. Also signs the visitor in, unless the server cannot begin a session. */
export const resetPassword = (body: PasswordResetBody): Promise<void> => post(`${linkPath}/password/reset`, body);
export const listFolder = (path: readonly string[], query: Record<string, string>): Promise<Listing> =>
  requestJson(`${addressOf('list', path)}?${new URLSearchParams(query)}`);
/** Returns the sizes of the pages of a document. */
export const fetchPages = (path: readonly string[]): Promise<DocumentPages> => requestJson(addressOf('pages', path));
/** Returns the text of a page of a document. @throws Failure */
export async function fetchPageText(path: readonly string[], number: number): Promise<string> {
  const address = `${addressOf('page-text', path)}?${new URLSearchParams({ number: String(number) })}`;
  const response = await orOffline(fetch(address, { headers: { accept: 'application/json' } }));
  if (!response.ok) throw await failureOf(response);
  return orOffline(response.text());
}
export const createFolder = (path: readonly string[]): Promise<void> => post(addressOf('folder', path));
export const renameItem = (path: readonly string[], name: string): Promise<void> =>
  post(`${linkPath}/rename`, { path: path.join('/'), name });
export const deleteItem = (path: readonly string[]): Promise<void> => requestJson(addressOf('file', path), { method: 'DELETE' });

/** Sends a request only to learn whether it fails. @throws Failure */
export async function checkAddress(method: 'GET' | 'HEAD', address: string): Promise<void> {
  const response = await orOffline(fetch(address, { method, headers: { accept: 'application/json' } }));
  if (!response.ok) throw await failureOf(response);
}

/**
 * Returns the first bytes of a file as text, whether the file has more, and the media type that the server detected. The text
 * is empty unless the file is text/plain. An empty file counts as text/plain.
 * @throws Failure, also if the signal is aborted
 */
export async function fetchBeginning(path: readonly string[], bytes: number, signal: AbortSignal) {
  const headers = { range: `bytes=0-${bytes - 1}`, accept: 'application/json' };
  const response = await orOffline(fetch(addressOf('view', path), { headers, signal }));
  if (response.status === 416) return { mediaType: 'text/plain', text: '', isCut: false };
  if (!response.ok) throw await failureOf(response);
  const [, mediaType = '', charset = 'utf-8'] = /^([^;]*)(?:; *charset=([\w-]+))?/.exec(response.headers.get('content-type') ?? '') ?? [];
  const [, fileSize = '0'] = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  // Not Response.text(): it decodes every file as UTF-8.
  const text = mediaType === 'text/plain' ? new TextDecoder(charset).decode(await orOffline(response.arrayBuffer())) : '';
  return { mediaType, text, isCut: Number(fileSize) > bytes };
}

/** Returns the failure of a body that could not be sent: the connection was lost, or the device can no longer read the file. */
const sendFailure = (body: Blob): Promise<Failure> => body.slice(0, 1).arrayBuffer().then(offlineFailure, unreadableFailure);

/** A request whose body is a file, or a part of it. */
export interface FileRequest {
  readonly method: 'PUT' | 'PATCH';
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob;
  /** Receives the bytes sent so far. */
  readonly onProgress: (sent: number) => void;
}

/**
 * Sends a file. Uses XMLHttpRequest because fetch does not report upload progress.
 * @returns the request, whose response has a status below 300
 * @throws Failure; if the signal was aborted before the call, its reason
 */
export function sendFile({ method, address, headers, body, onProgress }: FileRequest, signal: AbortSignal): Promise<XMLHttpRequest> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open(method, address);
    request.setRequestHeader('accept', 'application/json');
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () =>
      request.status < 300
        ? resolve(request)
        : reject(parseFailure(request.status, request.responseText, request.getResponseHeader('retry-after')));
    request.onerror = () => void sendFailure(body).then(reject);
    request.onabort = () => reject(signal.reason instanceof Failure ? signal.reason : new Failure(0, 'cancelled', '', null));
    request.onloadend = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort);
    request.send(body);
  });
}

/** What the server received and stored. */
export interface UploadReceipt {
  readonly name: string;
  readonly size: number;
  /** Hexadecimal; null: not known, because the server has recovered the upload after a crash. */
  readonly sha256: string | null;
}

/**
 * Uploads a file in one request.
 * @param replacedEtag the ETag of the file to replace; null: the name must be free
 * @param onProgress receives the bytes sent so far
 */
export async function upload(
  path: readonly string[],
  file: File,
  replacedEtag: string | null,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<UploadReceipt> {
  const headers = replacedEtag === null ? {} : { 'if-match': replacedEtag };
  const request: FileRequest = { method: 'PUT', address: addressOf('file', path), headers, body: file, onProgress };
  return JSON.parse((await sendFile(request, signal)).responseText);
}
