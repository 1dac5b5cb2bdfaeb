import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, watch } from 'node:fs';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sendRaw, sendRequest } from '../hostile/raw-socket.ts';
import { until } from '../ports/until.ts';
import { adminKey, type Json, newShare, temporaryFolder } from '../start.ts';
import { runPostern, spawnPostern } from './run-postern.ts';

function linesOf(file: string): Json[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1); // the text after the last newline may be incomplete
  return lines.map((line) => JSON.parse(line));
}

/** Waits until the file has a line for which fits() is true, and returns the line. */
async function waitForLine(folder: string, name: string, fits: (line: Json) => boolean): Promise<Json> {
  const end = new AbortController();
  const changes = watch(folder, { signal: end.signal });
  try {
    for (;;) {
      const line = linesOf(join(folder, name)).find(fits);
      if (line) return line;
      await once(changes, 'change');
    }
  } finally {
    end.abort();
  }
}

async function startWithAccessLog(t: TestContext, environment: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder(t);
  const data = join(folder, 'data');
  const logs = join(folder, 'logs');
  await mkdir(logs);
  const postern = await runPostern(t, { POSTERN_DATA: data, POSTERN_ACCESS_LOG: join(logs, 'access.log'), ...environment });
  const { viewId } = (await postern.send('share/add', newShare())).body;
  return { postern, data, logs, viewId, base: `${postern.publicUrl}/s/${viewId}` };
}

test('the access log records client, path and result of each request, and no secret', async (t) => {
  const { postern, logs, viewId, base } = await startWithAccessLog(t);
  await fetch(`${base}/file/welcome.txt?token=hidden-in-the-query`, { headers: { 'user-agent': 'a test\u009B' } });
  const response = await fetch(`${base}/file/welcome.txt`, {
    headers: { cookie: 'a=hidden-cookie', authorization: 'Basic aGlkZGVuOmhpZGRlbg==' },
  });
  const text = await response.text();
  const line = await waitForLine(logs, 'access.log', ({ requestId }) => requestId === response.headers.get('x-request-id'));
  assert.deepEqual(
    [line.method, line.path, line.status, line.complete, line.address],
    ['GET', '/s/…/file/welcome.txt', 200, true, '127.0.0.1'],
  );
  assert.ok(line.bytes > text.length && line.seconds >= 0 && Date.parse(line.time) > 0);
  const refusedLine = await waitForLine(logs, 'access.log', ({ status }) => status === 400);
  assert.deepEqual([refusedLine.refusal, refusedLine.client], ['fieldInvalid', 'a test\uFFFD'], 'control characters are replaced');
  await fetch(`${postern.publicUrl}/unsubscribe/hidden-token`);
  await waitForLine(logs, 'access.log', ({ path }) => path === '/unsubscribe/…');
  await fetch(`${postern.publicUrl}/%73/${viewId}/visit`);
  for (const mistyped of ['//s/', '/S/', '/s%2F', '/x/s//']) await fetch(`${postern.publicUrl}${mistyped}${viewId}/end`);
  const absoluteUrlRequest = get({ host: '127.0.0.1', port: new URL(postern.publicUrl).port, path: `${base}/archive` });
  absoluteUrlRequest.on('response', (absoluteUrlResponse) => absoluteUrlResponse.resume());
  await waitForLine(logs, 'access.log', ({ path }) => path === '/x/s/…/end');
  for (const end of ['visit', 'archive']) await waitForLine(logs, 'access.log', ({ path }) => path === `/s/…/${end}`);
  const change = await waitForLine(logs, 'access.log', ({ path }) => path === '/api/v1/share/add');
  assert.deepEqual([change.caller.kind, change.caller.name], ['key', 'environment']);
  const logText = readFileSync(join(logs, 'access.log'), 'utf8');
  for (const secret of [viewId, 'hidden', adminKey]) assert.ok(!logText.includes(secret), secret);
  assert.equal(postern.output().includes('"path"'), false, 'the program log has no lines of the access log');
});

test('the access log also records requests with a wrong host, header or path, and redirects of former addresses', async (t) => {
  const { postern, logs, viewId } = await startWithAccessLog(t, { POSTERN_PUBLIC_URL_ALIASES: 'http://old.example.com' });
  const { publicUrl } = postern;
  const end = AbortSignal.timeout(60_000);
  for (const [line, headers, status, path] of [
    ['GET /health/live', ['Host: another.example.com'], 400, '/health/live'],
    ['GET /health/ready', ['Expect: magic'], 417, '/health/ready'],
    ['GET /s/%ff', [], 400, '/s/…'],
  ] as const) {
    await sendRequest(publicUrl, line, headers, '', end);
    await waitForLine(logs, 'access.log', (entry) => entry.status === status && entry.path === path);
  }
  const sendToOldHost = (path: string) =>
    sendRaw(publicUrl, `GET ${path} HTTP/1.1\r\nHost: old.example.com\r\nConnection: close\r\n\r\n`, end);
  await sendToOldHost(`/s/${viewId}`);
  await waitForLine(logs, 'access.log', ({ status, path }) => status === 307 && path === '/s/…');
  await sendToOldHost('/api/v1/share/search');
  await waitForLine(logs, 'access.log', ({ status, refusal }) => status === 421 && refusal === 'hostWrong');
});

test('a download that the visitor aborts is logged as incomplete', async (t) => {
  const { data, logs, base } = await startWithAccessLog(t);
  await writeFile(join(data, 'files', 'large.bin'), '');
  await truncate(join(data, 'files', 'large.bin'), 64 << 20);
  const request = get(`${base}/file/large.bin`);
  const [response] = await once(request, 'response');
  await once(response, 'data');
  request.destroy();
  const line = await waitForLine(logs, 'access.log', ({ path }) => path === '/s/…/file/large.bin');
  assert.deepEqual([line.status, line.complete], [200, false]);
  assert.ok(line.bytes < 64 << 20);
});

test('after SIGHUP the access log continues in a new file, and no line is lost', async (t) => {
  const { postern, logs, base } = await startWithAccessLog(t);
  await fetch(`${base}/visit`);
  await waitForLine(logs, 'access.log', ({ path }) => path === '/s/…/visit');
  renameSync(join(logs, 'access.log'), join(logs, 'access.log.1'));
  postern.child.kill('SIGHUP');
  const changes = watch(logs);
  t.after(() => changes.close());
  let lists = 0;
  for (;;) {
    await fetch(`${base}/list`);
    lists += 1;
    if (linesOf(join(logs, 'access.log')).length > 0) break;
    await once(changes, 'change');
  }
  const countLinesOfPath = (wanted: string) =>
    ['access.log.1', 'access.log'].flatMap((name) => linesOf(join(logs, name))).filter(({ path }) => path === wanted).length;
  await until(() => countLinesOfPath('/s/…/list') === lists);
  assert.equal(countLinesOfPath('/s/…/visit'), 1);
});

test('if the access log cannot be written, the start fails and names the setting', async (t) => {
  const data = await temporaryFolder(t);
  const postern = spawnPostern(t, { POSTERN_DATA: data, POSTERN_ACCESS_LOG: join(data, 'no-such-folder', 'access.log') });
  assert.equal((await postern.ended).code, 69);
  assert.match(postern.output(), /POSTERN_ACCESS_LOG: .*cannot be written \(ENOENT\)/);
});
