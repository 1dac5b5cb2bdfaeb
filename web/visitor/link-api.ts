import type { Listing, PortalVisit, Visit } from '#core/records/visit.ts';

/** A refusal as the server says it. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds to wait, where the server says so. */
  readonly retryAfter: number | null;
  constructor(status: number, code: string, detail: string, retryAfter: number | null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** The answer to a request that could not be sent at all. */
export const offline = () => new Failure(0, 'offline', '', null);

/** A file that was moved, changed or taken away on the visitor's device since it was chosen. */
export const unreadable = () => new Failure(0, 'fileUnreadable', '', null);

/** Whatever was thrown, as a failure that can be told. */
export const asFailure = (cause: unknown) => (cause instanceof Failure ? cause : new Failure(0, '', '', null));

/** `/s/…` or `/p/…`: everything a page asks lies below its own address. */
export const base = window.location.pathname.replace(/\/$/, '');
export const isPortal = base.startsWith('/p/');

const encoded = (path: readonly string[]) => path.map((segment) => `/${encodeURIComponent(segment)}`).join('');
export const addressOf = (route: 'file' | 'view' | 'zip' | 'list' | 'folder', path: readonly string[]) =>
  `${base}/${route}${encoded(path)}`;

/** What an answer without a problem document comes to: to HEAD, or of a server in front of Postern. */
const codeOfStatus: Readonly<Record<number, string>> = {
  401: 'signInNeeded',
  403: 'permissionOff',
  404: 'itemAbsent',
  410: 'linkEnded',
  429: 'tooManyFailures',
  502: 'storageAway',
  503: 'storageAway',
  504: 'storageAway',
};

/** What a problem document says (RFC 9457). */
export function failureOf(status: number, text: string, retryAfter: string | null): Failure {
  const seconds = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : null;
  try {
    const problem: { code?: string; detail?: string } = JSON.parse(text);
    return new Failure(status, problem.code ?? '', problem.detail ?? '', seconds);
  } catch {
    return new Failure(status, codeOfStatus[status] ?? '', '', seconds);
  }
}

/** @returns the answer's JSON, whose shape the route promises (visit.md) */
async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(path, { ...init, headers: { accept: 'application/json', ...init.headers } }).catch(() => {
    throw offline();
  });
  const text = await response.text();
  if (!response.ok) throw failureOf(response.status, text, response.headers.get('retry-after'));
  return text === '' ? null : JSON.parse(text);
}

const post = (path: string, body?: object) =>
  ask(path, { method: 'POST', ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}) });

export const visit = (): Promise<Visit | PortalVisit> => ask(`${base}/visit`);
/** The shares of a portal from the given one on. */
export const portalPage = (startIndex: number): Promise<PortalVisit> => ask(`${base}/visit?startIndex=${startIndex}`);
export const signIn = (username: string | undefined, password: string): Promise<Visit | PortalVisit> =>
  post(`${base}/sign-in`, username === undefined ? { password } : { username, password });
export const signOut = (): Promise<void> => post(`${base}/sign-out`);
/** Changes the password of the user who has signed in. */
export const changePassword = (currentPassword: string, password: string): Promise<void> =>
  post(`${base}/password`, { currentPassword, password });
export const list = (path: readonly string[], query: Record<string, string>): Promise<Listing> =>
  ask(`${addressOf('list', path)}?${new URLSearchParams(query)}`);
export const createFolder = (path: readonly string[]): Promise<void> => post(addressOf('folder', path));
export const rename = (path: readonly string[], name: string): Promise<void> => post(`${base}/rename`, { path: path.join('/'), name });
export const remove = (path: readonly string[]): Promise<void> => ask(addressOf('file', path), { method: 'DELETE' });

/** Asks whether an address is answered. */
export async function check(method: 'GET' | 'HEAD', address: string): Promise<void> {
  const response = await fetch(address, { method, headers: { accept: 'application/json' } }).catch(() => {
    throw offline();
  });
  if (!response.ok) throw failureOf(response.status, await response.text(), null);
}

/** The beginning of a file as it is shown, with what it turned out to be. */
export async function beginningOf(path: readonly string[], bytes: number, signal: AbortSignal) {
  const response = await fetch(addressOf('view', path), { headers: { range: `bytes=0-${bytes - 1}`, accept: 'application/json' }, signal });
  if (response.status === 416) return { mediaType: 'text/plain', text: '' };
  if (!response.ok) throw failureOf(response.status, await response.text(), response.headers.get('retry-after'));
  const [, mediaType = '', charset = 'utf-8'] = /^([^;]*)(?:; *charset=([\w-]+))?/.exec(response.headers.get('content-type') ?? '') ?? [];
  // Response.text() takes everything for UTF-8.
  return { mediaType, text: mediaType === 'text/plain' ? new TextDecoder(charset).decode(await response.arrayBuffer()) : '' };
}

/** What the server keeps of an upload. */
export interface Received {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/**
 * Sends a file. XMLHttpRequest, since fetch says nothing of how much has been sent.
 * @param replaces the validator of the file that it takes the place of; null: of none
 */
export function upload(
  path: readonly string[],
  file: File,
  replaces: string | null,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', addressOf('file', path));
    request.setRequestHeader('accept', 'application/json');
    if (replaces !== null) request.setRequestHeader('if-match', replaces);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () =>
      request.status === 201 || request.status === 200
        ? resolve(JSON.parse(request.responseText))
        : reject(failureOf(request.status, request.responseText, request.getResponseHeader('retry-after')));
    request.onerror = () =>
      void file
        .slice(0, 1)
        .arrayBuffer()
        .then(
          () => reject(offline()),
          () => reject(unreadable()),
        );
    request.onabort = () => reject(new Failure(0, 'cancelled', '', null));
    signal.throwIfAborted();
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}
