import type { PasskeyRequest } from '#core/records/passkey.ts';
import type { OperationName, RequestOf, ResponseOf } from '#features/operation-types.ts';
import { asSentence } from './as-sentence.ts';

export interface FieldError {
  readonly field: string;
  readonly detail: string;
}

/** A problem document of the REST API (RFC 9457). Status 0: an error in the browser, such as a lost connection. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fieldErrors: readonly FieldError[];
  /** Seconds to wait before the next try, or null. */
  readonly retryAfter: number | null;
  /** Options for a passkey, if the server asks for one at sign-in; else null. */
  readonly passkey: PasskeyRequest | null;
  constructor(status: number, code: string, detail: string, others: Partial<Pick<Problem, 'fieldErrors' | 'retryAfter' | 'passkey'>> = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.fieldErrors = others.fieldErrors ?? [];
    this.retryAfter = others.retryAfter ?? null;
    this.passkey = others.passkey ?? null;
  }
}

/** Returns an error as a Problem that can be shown to the operator. */
export const asProblem = (cause: unknown) =>
  cause instanceof Problem ? cause : new Problem(0, 'unknown', 'An error occurred in this page. Reload it and try again.');

/** The query parameters of a request. Undefined values and empty texts are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The options of a change, in addition to its body. */
export interface ChangeOptions {
  /** The etag of the version that is changed. The server refuses the change of any other version (412). */
  readonly ifMatch?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** One page of the records that a search finds. */
export interface Page<T> {
  readonly list: readonly T[];
  readonly totalCount: number;
}

interface ProblemDocument {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  readonly passkey?: PasskeyRequest | null;
}

function problemOf(response: Response, text: string): Problem {
  const retryAfter = Number(response.headers.get('retry-after')) || null;
  try {
    const { code = '', detail = '', errors = [], passkey = null }: ProblemDocument = JSON.parse(text);
    return new Problem(response.status, code, asSentence(detail), { fieldErrors: errors, retryAfter, passkey });
  } catch {
    return new Problem(response.status, 'unknown', `The server answered with status ${response.status}. Try again later.`, { retryAfter });
  }
}

/** The codes that the server sends if the session has ended or its cookie is missing. */
const sessionEndCodes = ['signInNeeded', 'keyMissing'];

const listeners = new Set<() => void>();
/** Calls the listener when a response reports that the session has ended. @returns a function that removes the listener */
export function onSessionEnd(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Waits for a response or for its body. @throws Problem with the code `offline` if the connection is lost or the request is aborted */
const orOffline = <T>(received: Promise<T>): Promise<T> =>
  received.catch(() => {
    throw new Problem(0, 'offline', 'The server cannot be reached. Check the connection and try again.');
  });

/** Sends a request. @returns the JSON of the response, or null if it is empty, and its headers @throws Problem */
async function sendForHeaders(path: string, init: RequestInit) {
  const response = await orOffline(fetch(`/api/v1/${path}`, init));
  const text = await orOffline(response.text());
  if (response.ok) return { body: text === '' ? null : JSON.parse(text), headers: response.headers };
  const problem = problemOf(response, text);
  if (sessionEndCodes.includes(problem.code)) for (const notify of listeners) notify();
  throw problem;
}

/** Sends a request. @returns the JSON of the response, or null if it is empty @throws Problem */
const send = async (path: string, init: RequestInit) => (await sendForHeaders(path, init)).body;

const queryOf = (query: Query) => {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`;
};

/**
 * Calls a read operation without a body.
 * @throws Problem
 */
export const get = <Name extends OperationName>(name: Name, query: Query = {}, signal?: AbortSignal): Promise<ResponseOf<Name>> =>
  send(name + queryOf(query), signal ? { signal } : {});

/** Returns the cursor `after` in the address of the next page (RFC 8288), or null on the last page. */
function cursorIn(headers: Headers): string | null {
  const [, address] = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return address === undefined ? null : new URL(address).searchParams.get('after');
}

/**
 * Calls a search for one page of its records.
 * @returns the page, and the value of `after` in the query for the next page, or null if this is the last page
 * @throws Problem
 */
export async function getPage<Name extends OperationName>(
  name: Name,
  query: Query,
  signal: AbortSignal,
): Promise<{ readonly page: ResponseOf<Name>; readonly next: string | null }> {
  const { body, headers } = await sendForHeaders(name + queryOf(query), { signal });
  return { page: body, next: cursorIn(headers) };
}

/** Gets a route that needs no session and is not an operation. `Response` is the type of its response in openapi.json. @throws Problem */
export const getWithoutSession = <Response>(name: string, signal: AbortSignal): Promise<Response> => send(name, { signal });

/** Sends a request with a body. `Response` is the type of the response in openapi.json. @throws Problem */
export const sendBody = <Response>(method: 'POST' | 'DELETE', name: string, body: object, options: ChangeOptions = {}): Promise<Response> =>
  send(name + queryOf({ dryRun: options.dryRun }), {
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(options.ifMatch === undefined ? {} : { 'if-match': options.ifMatch }) },
  });

const operationBy =
  (method: 'POST' | 'DELETE') =>
  <Name extends OperationName>(name: Name, body: RequestOf<Name>, options?: ChangeOptions): Promise<ResponseOf<Name>> =>
    sendBody(method, name, Object(body), options);

/** Calls an operation with a body, other than a deletion. @throws Problem */
export const post = operationBy('POST');
/** Calls an operation whose method is DELETE. @throws Problem */
export const remove = operationBy('DELETE');
