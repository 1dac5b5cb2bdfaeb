import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { operations } from '#features/operations.ts';
import { argon2PasswordHash } from '../src/adapters/os/argon2.ts';
import { compose } from '../src/composition/compose.ts';
import type { TestReplacements } from '../src/composition/replacements.ts';
import { readSettings } from '../src/settings/settings.ts';
import { atEnd } from './parts/at-end.ts';
import { shareBody } from './parts/share-body.ts';
import { databaseOf } from './parts/test-database.ts';

/** Admin API key of every Postern in a test. */
export const adminKey = 'pst_test-key-of-an-admin';

/** A JSON response of any shape: each test checks the fields that it needs. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
export type Json = any;

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

interface CallOptions {
  readonly method?: string;
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
  readonly query?: Record<string, string>;
}

/** Settings of a mail server that cannot be reached. */
export const mailSettings = { POSTERN_SMTP_URL: 'smtp://127.0.0.1:9', POSTERN_MAIL_FROM: 'files@example.com' };

export interface StartOptions {
  readonly environment?: Record<string, string>;
  readonly replacements?: TestReplacements;
  /** Folder for POSTERN_DATA. It is not deleted when Postern stops, so that a test can start Postern on it again. */
  readonly data?: string;
}

/** The method of each operation. Requests that are not operations, such as `login`, use POST. */
const methods = new Map<string, string>(operations.map(({ name, method }) => [name, method]));

async function readResponse(response: Response): Promise<TestResponse> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/** True for the folders of tests that depend on the behavior of a real disk. */
const isAboutDisks = /\/test\/(ports|process|faults)\//.test(process.argv[1] ?? '');
/** Other tests use a folder in memory if the test runner provides one, because on a disk they would mostly wait for the disk. */
const temporaryParent = isAboutDisks ? tmpdir() : (process.env['POSTERN_TEST_MEMORY'] ?? tmpdir());

/** Creates a folder that is deleted after the test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(temporaryParent, 'postern-test-'));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Cheap argon2id parameters, because the tests sign in many times. */
const cheapHashParameters = { memoryCost: 1024, timeCost: 1, parallelism: 1 };
const transferCheckInterval = 200; // ms; short, because many tests wait until a transfer is stopped
const jobInterval = 100; // ms; short, because many tests wait for a job

/** Starts a complete Postern on a free port, with real parts except those in `replacements`. It is stopped after the test. */
export async function startPostern(t: TestContext, { environment = {}, replacements = {}, data }: StartOptions = {}) {
  const folder = data ?? (await temporaryFolder(t));
  const database = 'POSTERN_DATABASE_URL' in environment ? {} : await databaseOf(folder);
  const settings = readSettings({ PORT: '0', POSTERN_DATA: folder, POSTERN_API_KEY: adminKey, ...database, ...environment });
  const ports = { passwordHash: argon2PasswordHash(cheapHashParameters), ...replacements.ports };
  const postern = await compose(settings, { log: null, transferCheckInterval, jobInterval, ...replacements, ports });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await postern[Symbol.asyncDispose]();
  };
  atEnd(t, stop);

  /** Calls a management operation. `body` holds the query parameters of a GET request, or else the JSON body. */
  async function send(
    name: string,
    body: object = {},
    { method, key = adminKey, headers = {}, query = {} }: CallOptions = {},
  ): Promise<TestResponse> {
    const httpMethod = method ?? methods.get(name) ?? 'POST';
    const parameters = httpMethod === 'GET' ? { ...body, ...query } : query;
    const search = new URLSearchParams(Object.entries(parameters).map(([field, value]) => [field, String(value)])).toString();
    const response = await fetch(`${postern.apiUrl}/api/v1/${name}${search ? `?${search}` : ''}`, {
      method: httpMethod,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(httpMethod === 'GET' ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(httpMethod === 'GET' ? {} : { body: JSON.stringify(body) }),
    });
    return readResponse(response);
  }

  /** Calls a management operation that must succeed. @returns the body of the response */
  async function call(name: string, body: object = {}, options: CallOptions = {}): Promise<Json> {
    const response = await send(name, body, options);
    if (response.status !== 200) throw new Error(`${name} answered ${response.status}: ${JSON.stringify(response.body)}`);
    return response.body;
  }

  /** Sends a visitor's request. `path` is relative to the public base URL. */
  const visit = async (path: string, init: RequestInit = {}): Promise<TestResponse> =>
    readResponse(await fetch(postern.publicUrl + path, { redirect: 'manual', ...init }));

  return { ...postern, data: folder, files: join(folder, 'files'), send, call, visit, stop };
}
export type TestPostern = Awaited<ReturnType<typeof startPostern>>;

/**
 * Returns the body of a share/add request that allows everything at the root of the location.
 * @param over fields that replace the defaults
 */
export function newShare(over: object = {}): Json {
  return { ...shareBody, ...over };
}

const password = 'correct horse battery';

/** Creates a login profile of type USERS with users. @returns its id and viewId, the ids of its users, and their common password */
export async function createUsersProfile(postern: TestPostern, names: readonly string[] = ['ann'], over: object = {}) {
  const profile = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3, ...over });
  const users: Record<string, number> = {};
  for (const username of names) {
    const { id } = await postern.call('accessuser/add', { username, active: true, authId: profile.id, email: `${username}@example.com` });
    await postern.call('accessuser/updateUserPassword', {
      username,
      userPassword: password,
      confirmPassword: password,
      authId: profile.id,
    });
    users[username] = id;
  }
  return { id: Number(profile.id), viewId: String(profile.viewId), users, password };
}

/** Signs in at a link or portal (`/s/…`, `/p/…`). @returns the cookie header of the session */
export async function signIn(postern: TestPostern, base: string, username: string, secret = password): Promise<string> {
  const response = await postern.visit(`${base}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: secret }),
  });
  if (response.status !== 200) throw new Error(`sign-in answered ${response.status}: ${JSON.stringify(response.body)}`);
  return cookieOf(response);
}

/** Returns the cookies that a response sets, as the value of a `Cookie` request header. */
export const cookieOf = (response: TestResponse): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');
