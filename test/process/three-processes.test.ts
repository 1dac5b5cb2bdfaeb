import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { atEnd } from '../parts/at-end.ts';
import { startPostgres } from '../parts/postgres-server.ts';
import { shareBody } from '../parts/share-body.ts';
import { until } from '../ports/until.ts';
import { adminKey, temporaryFolder } from '../start.ts';
import { startFrontProxy } from './front-proxy.ts';
import { runPostern } from './run-postern.ts';

const changeCount = 240;
const uploadCount = 90;

async function startThree(t: TestContext) {
  const database = await startPostgres();
  atEnd(t, () => database[Symbol.asyncDispose]());
  const client = new pg.Client(database.url('postgres'));
  await client.connect();
  await client.query('CREATE DATABASE three');
  await client.end();
  const proxy = await startFrontProxy(t);
  const data = await temporaryFolder(t);
  mkdirSync(join(data, 'files/in'), { recursive: true });
  const environment = {
    POSTERN_DATA: data,
    POSTERN_DATABASE_URL: database.url('three'),
    POSTERN_SECRET_KEY: 'one-secret-key-for-all',
    POSTERN_TRUSTED_PROXIES: '127.0.0.1',
    POSTERN_PUBLIC_URL: proxy.url,
  };
  const processes = await Promise.all([1, 2, 3].map(() => runPostern(t, environment)));
  await proxy.forwardTo(processes.map(({ apiUrl }) => apiUrl.replace('localhost', '127.0.0.1')));
  return { proxy, processes, files: join(data, 'files') };
}

/** Sends one request through the proxy. @returns null if no complete response came */
function send(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string } | null> {
  return new Promise((resolve) => {
    const outgoing = request(
      url,
      { method, headers: { ...headers, 'content-length': Buffer.byteLength(body) }, agent: false },
      (response) => {
        let text = '';
        response.on('data', (piece) => {
          text += piece;
        });
        response.once('error', () => resolve(null));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    outgoing.once('error', () => resolve(null));
    outgoing.end(body);
  });
}

test('if one of three processes is killed under load, no acknowledged change is lost and none is made twice', async (t) => {
  const { proxy, processes, files } = await startThree(t);
  const authorization = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const call = async (name: string, body: object, more = {}) =>
    send(`${proxy.url}/api/v1/${name}`, 'POST', { ...authorization, ...more }, JSON.stringify(body));
  const uploadShare = JSON.parse((await call('share/add', { ...shareBody, path: '/in' }))?.text ?? '{}');

  const changeIds = new Map<string, number>();
  const uploadedFiles = new Map<string, string>();
  let [nextChange, nextUpload, startedRequests, failedRequests, isKilled] = [0, 0, 0, 0, false];
  const countResponses = () => changeIds.size + uploadedFiles.size;
  async function makeChanges(): Promise<void> {
    while (nextChange < changeCount) {
      nextChange += 1;
      const key = `change ${nextChange}`;
      for (;;) {
        startedRequests += 1;
        const answer = await call('share/add', { ...shareBody, title: key }, { 'idempotency-key': key });
        if (answer?.status === 200) {
          changeIds.set(key, JSON.parse(answer.text).id);
          break;
        }
        failedRequests += 1;
      }
    }
  }
  async function uploadFiles(): Promise<void> {
    while (nextUpload < uploadCount) {
      nextUpload += 1;
      const [name, content] = [`file-${nextUpload}`, `content ${nextUpload} `.repeat(20_000)];
      for (;;) {
        startedRequests += 1;
        const answer = await send(`${proxy.url}/s/${uploadShare.viewId}/file/${name}`, 'PUT', {}, content);
        if (answer?.status === 201) uploadedFiles.set(name, content);
        if (answer?.status === 201 || answer?.status === 409) break; // 409: the file was stored, but the response to its upload was lost
        failedRequests += 1;
      }
    }
  }
  async function killOneProcess(): Promise<void> {
    await until(() => countResponses() >= 80);
    // Of 15 requests, 5 go to the suspended process and wait there. At most 3 of them are uploads, because each of the 3 uploading clients
    // sends one file at a time. So at least 2 call share/add. No proxy repeats a POST at another process (nginx repeats only a PUT), so
    // these calls fail.
    processes[1]?.child.kill('SIGSTOP');
    const requestsBefore = startedRequests;
    await until(() => startedRequests >= requestsBefore + 15);
    processes[1]?.child.kill('SIGKILL');
    await processes[1]?.ended;
    isKilled = true;
  }
  await Promise.all([killOneProcess(), ...Array.from({ length: 6 }, makeChanges), ...Array.from({ length: 3 }, uploadFiles)]);

  assert.ok(isKilled && failedRequests > 0, 'the process was killed while changes were running');
  assert.equal(changeIds.size, changeCount);
  assert.equal(new Set(changeIds.values()).size, changeCount);
  const search = await send(`${proxy.url}/api/v1/share/search?searchWord=change&pageSize=1000`, 'GET', authorization, '');
  const searchResult = JSON.parse(search?.text ?? '{}');
  assert.equal(searchResult.totalCount, changeCount, 'each change was made once');
  assert.deepEqual(new Set(searchResult.list.map(({ id }: { id: number }) => id)), new Set(changeIds.values()));
  for (const [name, content] of uploadedFiles) assert.equal(readFileSync(join(files, 'in', name), 'utf8'), content);
});

test('a visitor who signs in at one of three processes is signed in at all of them', async (t) => {
  const { proxy } = await startThree(t);
  const authorization = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const call = async (name: string, body: object) => {
    const answer = await send(`${proxy.url}/api/v1/${name}`, 'POST', authorization, JSON.stringify(body));
    assert.equal(answer?.status, 200, answer?.text ?? 'no response');
    return JSON.parse(answer?.text ?? '{}');
  };
  const profile = await call('loginprofile/add', { title: 'One password', typeId: 2, password: 'correct horse battery' });
  const share = await call('share/add', { ...shareBody, authenticationId: profile.id });
  const signInResponse = await fetch(`${proxy.url}/s/${share.viewId}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"password":"correct horse battery"}',
  });
  const cookie = signInResponse.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  const statuses = new Set<number>();
  for (let time = 0; time < 9; time += 1)
    statuses.add((await send(`${proxy.url}/s/${share.viewId}/list`, 'GET', { cookie }, ''))?.status ?? 0);
  assert.deepEqual([...statuses], [200]);
});
