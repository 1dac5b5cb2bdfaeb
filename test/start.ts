import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { argon2PasswordHash } from '../src/adapters/os/argon2.ts';
import { compose, type Replacements } from '../src/compose.ts';
import { readSettings } from '../src/settings.ts';
import { atEnd } from './parts/at-end.ts';
import { shareBody } from './parts/share-body.ts';
import { databaseOf } from './parts/test-database.ts';

/** Key of every Postern in a test. */
export const adminKey = 'pst_test-key-of-an-admin';

/** A JSON answer of whatever shape; a test looks at what it promises. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
export type Json = any;

/** What a call came to. */
export interface Answer {
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

/** Beginnings of what a test may set or replace. */
export interface Start {
  readonly environment?: Record<string, string>;
  readonly replaced?: Replacements;
  /** Folder of POSTERN_DATA, kept after the test: to start on it again. */
  readonly data?: string;
}

const gets = (name: string) => /\/(search|browse|export)$|^(caller|overview)\/get$/.test(name);
const deletes = (name: string) => /\/delete/.test(name);

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/** What these tests are about is how a disk behaves. */
const isAboutDisks = /\/test\/(ports|process|faults)\//.test(process.argv[1] ?? '');
/** In memory, where the runner has found room for it: most of a test would be waiting for the disk. */
const place = isAboutDisks ? tmpdir() : (process.env['POSTERN_TEST_MEMORY'] ?? tmpdir());

/** A folder that is gone after the test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(place, 'postern-test-'));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** argon2id all the same, for as many sign-ins as tests make. */
const quick = { memoryCost: 1024, timeCost: 1, parallelism: 1 };

/** A whole Postern on real parts, listening on a free port, gone after the test. */
export async function startPostern(t: TestContext, { environment = {}, replaced = {}, data }: Start = {}) {
  const folder = data ?? (await temporaryFolder(t));
  const database = await databaseOf(folder);
  const settings = readSettings({ PORT: '0', POSTERN_DATA: folder, POSTERN_API_KEY: adminKey, ...database, ...environment });
  const ports = { passwordHash: argon2PasswordHash(quick), ...replaced.ports };
  const postern = await compose(settings, { log: null, ...replaced, ports });
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    await postern[Symbol.asyncDispose]();
  };
  atEnd(t, stop);

  /** Calls a management operation; GET parameters and JSON bodies alike are given as an object. */
  async function send(
    name: string,
    body: object = {},
    { method, key = adminKey, headers = {}, query = {} }: CallOptions = {},
  ): Promise<Answer> {
    const how = method ?? (gets(name) ? 'GET' : deletes(name) ? 'DELETE' : 'POST');
    const parameters = how === 'GET' ? { ...body, ...query } : query;
    const search = new URLSearchParams(Object.entries(parameters).map(([field, value]) => [field, String(value)])).toString();
    const response = await fetch(`${postern.apiUrl}/api/v1/${name}${search ? `?${search}` : ''}`, {
      method: how,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(how === 'GET' ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(how === 'GET' ? {} : { body: JSON.stringify(body) }),
    });
    return answerOf(response);
  }

  /** The same, for a call that must succeed. */
  async function call(name: string, body: object = {}, options: CallOptions = {}): Promise<Json> {
    const answer = await send(name, body, options);
    if (answer.status !== 200) throw new Error(`${name} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Fetches an address of a link: `path` begins behind the base address. */
  const visit = async (path: string, init: RequestInit = {}): Promise<Answer> =>
    answerOf(await fetch(postern.publicUrl + path, { redirect: 'manual', ...init }));

  return { ...postern, data: folder, files: join(folder, 'files'), send, call, visit, stop };
}
export type TestPostern = Awaited<ReturnType<typeof startPostern>>;

/** The body of a share/add that allows everything at the location's root; `over` says what is different. */
export function newShare(over: object = {}): Json {
  return { ...shareBody, ...over };
}

const password = 'correct horse battery';

/** A USERS profile with users who have a password, and how they sign in. */
export async function usersProfile(postern: TestPostern, names: readonly string[] = ['ann'], over: object = {}) {
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
  const answer = await postern.visit(`${base}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: secret }),
  });
  if (answer.status !== 200) throw new Error(`sign-in answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return cookieOf(answer);
}

/** The cookies that an answer sets, as a request sends them back. */
export const cookieOf = (answer: Answer): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');
