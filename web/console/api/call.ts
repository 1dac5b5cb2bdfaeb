/** One field that a refusal names. */
export interface FieldError {
  readonly field: string;
  readonly detail: string;
}

/** A refusal as the interface says it (RFC 9457); status 0: the server was not reached. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fieldErrors: readonly FieldError[];
  /** Seconds to wait, where the server says so. */
  readonly retryAfter: number | null;
  constructor(status: number, code: string, detail: string, faults: readonly FieldError[] = [], retryAfter: number | null = null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.fieldErrors = faults;
    this.retryAfter = retryAfter;
  }
}

/** Whatever was thrown, as a problem that can be told. */
export const asProblem = (cause: unknown) =>
  cause instanceof Problem ? cause : new Problem(0, 'unknown', 'Something went wrong in this page.');

/** What a search takes, and what a change may be told beside its body. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;
export interface ChangeOptions {
  /** The version that was looked at: another is refused. */
  readonly ifMatch?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A page of records (interface.md, "Common search result envelope"). */
export interface Page<T> {
  readonly list: readonly T[];
  readonly totalCount: number;
}

function problemOf(response: Response, text: string): Problem {
  const retryAfter = Number(response.headers.get('retry-after')) || null;
  try {
    const { code = '', detail = '', errors = [] }: { code?: string; detail?: string; errors?: FieldError[] } = JSON.parse(text);
    return new Problem(response.status, code, detail, errors, retryAfter);
  } catch {
    return new Problem(response.status, 'unknown', `The server answered ${response.status}.`, [], retryAfter);
  }
}

/** What an answer says where the session's cookie is not good any more, or is gone. */
const sessionEnded = ['signInNeeded', 'keyMissing'];

const listeners = new Set<() => void>();
/** Tells when an answer says that the session has ended. @returns what ends the telling */
export function onSessionEnd(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function send(path: string, init: RequestInit) {
  const response = await fetch(`/api/v1/${path}`, init).catch(() => {
    throw new Problem(0, 'offline', 'The server cannot be reached. Check the connection and try again.');
  });
  const text = await response.text();
  if (response.ok) return text === '' ? null : JSON.parse(text);
  const problem = problemOf(response, text);
  if (sessionEnded.includes(problem.code)) for (const tell of listeners) tell();
  throw problem;
}

const queryOf = (query: Query) => {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`;
};

/** Asks a question. @returns what the operation promises (openapi.json) */
export const get = <T>(name: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
  send(name + queryOf(query), signal ? { signal } : {});

const change =
  (method: 'POST' | 'DELETE') =>
  <T = unknown>(name: string, body: object, { ifMatch, dryRun }: ChangeOptions = {}): Promise<T> =>
    send(name + queryOf({ dryRun }), {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) },
    });

/** Changes something, or asks what takes a body. @throws Problem */
export const post = change('POST');
/** Deletes something. @throws Problem */
export const remove = change('DELETE');
