import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { freePort } from '../parts/free-port.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { proxyKinds, startTlsProxy } from '../parts/tls-proxy.ts';
import { until } from '../ports/until.ts';
import { adminKey, newShare, startPostern, temporaryFolder } from '../start.ts';

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** Returns a function that sends a request and trusts the certificate of the proxy. */
function clientOf(t: TestContext, certificate: string) {
  const agent = new Agent({ ca: certificate, keepAlive: false });
  atEnd(t, () => agent.destroy());
  return async (url: string, init: { method?: string; headers?: Record<string, string>; body?: Buffer | string } = {}): Promise<Answer> => {
    const outgoing = request(url, { agent, method: init.method ?? 'GET', headers: init.headers ?? {} });
    outgoing.end(init.body);
    const [response] = await once(outgoing, 'response');
    const pieces: Buffer[] = [];
    for await (const piece of response) pieces.push(piece);
    return { status: response.statusCode, headers: response.headers, text: Buffer.concat(pieces).toString() };
  };
}

for (const [name, kind] of Object.entries(proxyKinds))
  test(`with the documented ${name} configuration, the redirect to HTTPS, links, uploads, sign-in and client addresses work`, async (t) => {
    if (!isInstalled(kind.program)) return t.skip(`${kind.program} is not installed`);
    if (!isInstalled('openssl')) return t.skip('openssl is not installed');
    const folder = await temporaryFolder(t);
    const ports = { http: await freePort(), https: await freePort(), postern: await freePort() };
    const url = `https://localhost:${ports.https}`;
    const postern = await startPostern(t, {
      environment: { PORT: String(ports.postern), POSTERN_PUBLIC_URL: url, POSTERN_TRUSTED_PROXIES: '127.0.0.1, ::1' },
    });
    const child = await startTlsProxy(kind, folder, ports);
    atEnd(t, () => child.kill('SIGKILL'));
    const sendRequest = clientOf(t, readFileSync(join(folder, 'fullchain.pem'), 'utf8'));

    const redirect = await fetch(`http://localhost:${ports.http}/s/some-link`, { redirect: 'manual' });
    assert.ok([301, 308].includes(redirect.status), `${redirect.status}`);
    assert.equal(redirect.headers.get('location')?.replace(`:${ports.https}`, ''), 'https://localhost/s/some-link');

    const { viewUrl } = await postern.call('share/add', newShare());
    assert.ok(viewUrl.startsWith(url));
    const page = await sendRequest(viewUrl, { headers: { accept: 'text/html' } });
    assert.equal(page.status, 200);
    assert.match(String(page.headers['strict-transport-security']), /max-age=31536000/);
    const large = Buffer.alloc(8 << 20, 'x');
    const put = await sendRequest(`${viewUrl}/file/${encodeURIComponent('ä %2F b.bin')}`, { method: 'PUT', body: large });
    assert.equal(put.status, 201, put.text);
    const download = await sendRequest(`${viewUrl}/file/${encodeURIComponent('ä %2F b.bin')}`);
    assert.equal(download.text.length, large.length);

    const authorization = { authorization: `Bearer ${adminKey}`, 'x-forwarded-for': '198.51.100.7' };
    const caller = JSON.parse((await sendRequest(`${url}/api/v1/caller/get`, { headers: authorization })).text);
    assert.match(caller.address, /^(::1|(::ffff:)?127\.0\.0\.1)$/, 'X-Forwarded-For of the client is ignored');

    const password = 'a horse that reads maps';
    await postern.call('operator/add', { name: 'Olga', role: 'admin', password, confirmPassword: password });
    const headers = { 'content-type': 'application/json', origin: url };
    const signInAnswer = await sendRequest(`${url}/api/v1/operator/signIn`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'Olga', password }),
    });
    assert.equal(signInAnswer.status, 200, signInAnswer.text);
    assert.match(String(signInAnswer.headers['set-cookie']), /^__Host-/);
  });

test('with the documented Caddy configuration, Caddy sends a large file, and each URL returns its own file', async (t) => {
  if (!isInstalled('caddy')) return t.skip('caddy is not installed');
  const [folder, http, port] = [await temporaryFolder(t), await freePort(), await freePort()];
  const postern = await startPostern(t, {
    environment: {
      PORT: String(port),
      POSTERN_PUBLIC_URL: `http://localhost:${http}`,
      POSTERN_SENDFILE: 'x-sendfile',
      POSTERN_TRUSTED_PROXIES: '127.0.0.1, ::1',
    },
  });
  const { viewUrl } = await postern.call('share/add', newShare());
  const names = ['plain.bin', 'Client A/b.bin', 'Client%20A/b.bin', 'ä#?.bin', 'a%2Fb.bin'];
  for (const name of names) {
    mkdirSync(join(postern.files, name, '..'), { recursive: true });
    writeFileSync(join(postern.files, name), name.padEnd(600 * 1024));
  }
  const guide = readFileSync(new URL('../../docs/operator/running.md', import.meta.url), 'utf8');
  const block = /```\n(reverse_proxy [^`]+)```/.exec(guide)?.[1]?.replace('127.0.0.1:8080', `127.0.0.1:${port}`);
  writeFileSync(
    join(folder, 'Caddyfile'),
    `{\n\tadmin off\n\tauto_https off\n\tstorage file_system ${folder}\n}\nhttp://localhost:${http} {\n${block}}\n`,
  );
  const child = spawn(proxyKinds['Caddy']?.program ?? '', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [first] = await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
  assert.notEqual(first, 1, 'Caddy accepts the documented configuration');
  atEnd(t, () => child.kill('SIGKILL'));
  const base = `http://localhost:${http}${new URL(viewUrl).pathname}/file/`;
  await until(() =>
    fetch(base).then(
      () => true,
      () => false,
    ),
  );
  for (const name of names) {
    const answer = await fetch(base + name.split('/').map(encodeURIComponent).join('/'));
    assert.equal(answer.status, 200, name);
    assert.equal((await answer.text()).trimEnd(), name);
    assert.equal(answer.headers.get('x-sendfile'), null);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment/);
  }
  const pathsSentByProxy = async () => {
    const { list } = await postern.call('audit/search', { action: 'download' });
    return list.filter(({ bytes }: { bytes: number | null }) => bytes === null).map(({ path }: { path: string }) => path);
  };
  await until(async () => (await pathsSentByProxy()).join() === '/plain.bin'); // downloads that Postern sends get `bytes` when they end
});
