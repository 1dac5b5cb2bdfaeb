import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createUsersProfile, startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

const json = { 'content-type': 'application/json' };
const changes = [
  ['PUT', '/file/new.txt', 'x'],
  ['DELETE', '/file/welcome.txt', ''],
  ['POST', '/folder/new', ''],
  ['POST', '/rename', '{"path":"welcome.txt","name":"b.txt"}'],
  ['POST', '/sign-in', '{"username":"ann","password":"correct horse battery"}'],
  ['POST', '/sign-out', ''],
] as const;

test('a change that another origin sends is refused', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const { port } = new URL(postern.publicUrl);
  for (const foreignHeaders of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `https://localhost:${port}` },
    { origin: 'http://localhost:1' },
    { origin: `http://localhost.evil.example:${port}` },
    { origin: 'garbage' },
    { 'sec-fetch-site': 'cross-site' },
  ])
    for (const at of [base, '/s/neverexistedatall'])
      for (const [method, path, body] of changes) {
        const answer = await sendPath(postern, at + path, {
          method,
          headers: { ...(body.startsWith('{') ? json : {}), ...foreignHeaders },
          body,
        });
        assert.equal(answer.status, 403, `${method} ${path} ${JSON.stringify(foreignHeaders)}`);
        assert.equal(answer.json.code, 'otherSite');
      }
  assert.equal((await sendPath(postern, `${base}/file/welcome.txt`)).status, 200);
});

test('a change from the origin of the server, by any loopback name, or from a program is accepted', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const { port } = new URL(postern.publicUrl);
  const ownHeaders: Record<string, string>[] = [
    {},
    { origin: `http://localhost:${port}`, 'sec-fetch-site': 'same-origin' },
    { origin: `http://127.0.0.1:${port}` },
    { origin: `http://[::1]:${port}` },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ];
  for (const [index, headers] of ownHeaders.entries())
    assert.equal((await sendPath(postern, `${base}/folder/f${index}`, { method: 'POST', headers })).status, 201, JSON.stringify(headers));
});

test('read requests that come from another origin are answered', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (const path of ['', '/visit', '/list', '/file/welcome.txt'])
    assert.equal(
      (await sendPath(postern, base + path, { headers: { 'sec-fetch-site': 'cross-site', origin: 'https://mail.example' } })).status,
      200,
      path,
    );
});

test('if a public address is set, links accept no other origin or host', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_PUBLIC_URL: 'https://files.example.com' } });
  const { base } = await createShare(postern);
  const post = (headers: Record<string, string>) => sendPath(postern, `${base}/folder/a`, { method: 'POST', headers });
  assert.equal((await post({ origin: 'https://files.example.com' })).status, 201);
  for (const origin of ['http://files.example.com', 'https://files.example.com:8443', 'https://example.com', 'http://localhost'])
    assert.equal((await post({ origin })).status, 403, origin);
  const { port } = new URL(postern.apiUrl);
  for (const host of [`localhost:${port}`, '127.0.0.1', 'evil.example', 'files.example.com:8443', 'files.example.com.evil.example'])
    for (const path of [base, `${base}/visit`, `${base}/file/welcome.txt`, '/p/whatever/visit']) {
      const answer = await sendPath(postern, path, { headers: { host } });
      assert.equal(answer.status, 421, `${host} ${path}`);
      assert.match(answer.text, /https:\/\/files\.example\.com/);
    }
});

test('health and metrics accept any Host header, but a link does not', async (t) => {
  const postern = await startPostern(t);
  const headers = { host: 'monitor.example' };
  assert.equal((await sendPath(postern, '/health/live', { headers })).status, 200);
  assert.equal((await sendPath(postern, '/health/ready', { headers })).status, 200);
  assert.notEqual((await sendPath(postern, '/metrics', { headers })).status, 421);
  const { base } = await createShare(postern);
  assert.equal((await sendPath(postern, `${base}/visit`, { headers })).status, 421);
});

test('if the public address is loopback, a link answers for each loopback name on its port', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const { port } = new URL(postern.publicUrl);
  for (const name of ['127.0.0.1', '[::1]', 'localhost'])
    assert.equal((await sendPath(postern, `${base}/visit`, { headers: { host: `${name}:${port}` } })).status, 200, name);
  assert.equal((await sendPath(postern, `${base}/visit`, { headers: { host: 'localhost:1' } })).status, 421);
});

test('responses of links, portals and sign-in addresses, also refusals, carry the privacy and security headers', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const protectedShare = await createShare(postern, { authenticationId: (await createUsersProfile(postern)).id });
  const { port } = new URL(postern.publicUrl);
  for (const [path, status, init] of [
    [base, 200, {}],
    [`${base}/visit`, 200, {}],
    [`${base}/list`, 200, {}],
    [`${base}/list?x=1`, 400, {}],
    [`${base}/file/welcome.txt`, 200, {}],
    [`${base}/file/welcome.txt`, 200, { method: 'HEAD' }],
    [`${base}/file/welcome.txt`, 304, { headers: { 'if-none-match': '*' } }],
    [`${base}/file/welcome.txt`, 206, { headers: { range: 'bytes=0-1' } }],
    [`${base}/file/welcome.txt`, 416, { headers: { range: 'bytes=99999-' } }],
    [`${base}/file/absent`, 404, { headers: { accept: 'text/html' } }],
    [`${base}/file/%2e%2e`, 400, {}],
    [`${base}/zip`, 200, {}],
    [`${base}/nothing`, 404, {}],
    [`${base}/list`, 405, { method: 'DELETE' }],
    [`${base}/file/new`, 201, { method: 'PUT', body: 'x' }],
    [`${base}/folder/made`, 201, { method: 'POST' }],
    [`${base}/sign-out`, 204, { method: 'POST' }],
    [`${base}/file/new`, 204, { method: 'DELETE' }],
    [`${base}/file/new`, 403, { method: 'DELETE', headers: { origin: 'null' } }],
    [`${base}/visit`, 421, { headers: { host: `other:${port}` } }],
    [`${protectedShare.base}/list`, 401, {}],
    ['/s/neverexistedatall', 404, {}],
    ['/p/neverexistedatall/visit', 404, {}],
    ['/sign-in/saml/1/metadata', 404, {}],
    ['/sign-in/oidc/1', 400, {}],
  ] as const) {
    const answer = await sendPath(postern, path, init);
    assert.equal(answer.status, status, path);
    const { headers } = answer;
    assert.equal(headers['referrer-policy'], 'no-referrer', `${path} ${status}`);
    assert.equal(headers['x-content-type-options'], 'nosniff', path);
    assert.equal(headers['x-robots-tag'], 'noindex', path);
    assert.equal(headers['cache-control'], 'private, no-store', path);
    assert.ok(headers['x-request-id'], path);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.doesNotMatch(policy, /script-src[^;]*'unsafe-/, path);
    assert.match(policy, /(script|default)-src/, path);
  }
});

test('a viewed file cannot be embedded in a frame', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const answer = await sendPath(postern, `${base}/view/welcome.txt`);
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-security-policy']), /frame-ancestors 'none'/);
});

test('a response to a malformed address carries the privacy and security headers', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const { status, headers } = await sendPath(postern, `${base}/file/%zz`);
  assert.equal(status, 400);
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.equal(headers['cache-control'], 'private, no-store');
  assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/);
});

test('a port in X-Forwarded-For is ignored', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1-127.0.0.9' } });
  const { id } = await postern.call('loginprofile/add', { title: 'Office', typeId: 3, ipRange: '203.0.113.7' });
  const { base } = await createShare(postern, { authenticationId: id });
  const from = async (address: string) => (await sendPath(postern, `${base}/visit`, { headers: { 'x-forwarded-for': address } })).status;
  assert.deepEqual([await from('203.0.113.7:52100'), await from('203.0.113.8:52100'), await from('203.0.113.7')], [200, 403, 200]);
});

test('a request target in absolute form is answered like its path', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const { host } = new URL(postern.publicUrl);
  assert.equal((await sendPath(postern, `http://${host}${base}/visit`)).status, 200);
  assert.equal((await sendPath(postern, `http://${host}/health/live`)).status, 200);
  assert.equal((await sendPath(postern, `http://${host}`)).status, (await sendPath(postern, '/')).status);
});

test('the address of an untrusted proxy is logged once', async (t) => {
  const log = new PassThrough();
  const lines: string[] = [];
  log.on('data', (chunk) => lines.push(String(chunk)));
  const postern = await startPostern(t, { replacements: { log } });
  const { base } = await createShare(postern);
  for (let number = 0; number < 3; number += 1) await sendPath(postern, `${base}/visit`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
  assert.equal(lines.filter((line) => line.includes('POSTERN_TRUSTED_PROXIES')).length, 1);
  assert.match(lines.join(''), /127\.0\.0\.1/);
});

test('a former address redirects links to the public address and refuses other requests', async (t) => {
  const environment = {
    POSTERN_PUBLIC_URL: 'https://files.example.com',
    POSTERN_PUBLIC_URL_ALIASES: 'https://old.example.com, http://older.example.com:8080',
  };
  const postern = await startPostern(t, { environment });
  const { base } = await createShare(postern);
  for (const host of ['old.example.com', 'OLDER.example.com:8080']) {
    const page = await sendPath(postern, `${base}?a=b`, { headers: { host } });
    assert.deepEqual([page.status, page.headers.location], [307, `https://files.example.com${base}?a=b`], host);
    for (const [method, path] of [
      ['GET', '/api/v1/share/search'],
      ['POST', `${base}/sign-in`],
      ['PUT', `${base}/file/a`],
      ['GET', '/console'],
      ['GET', '/metrics'],
    ] as const)
      assert.equal((await sendPath(postern, path, { method, headers: { host } })).status, 421, `${method} ${path}`);
  }
  assert.equal((await sendPath(postern, `${base}/visit`, { headers: { host: 'files.example.com' } })).status, 200);
  assert.equal((await sendPath(postern, `${base}/visit`, { headers: { host: 'other.example.com' } })).status, 421);
});

test('an overlong Host or Origin header is refused without being parsed', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const parsedTexts: string[] = [];
  const { parse } = URL;
  t.mock.method(URL, 'parse', (text: string) => {
    parsedTexts.push(text);
    return parse(text);
  });
  const name = `a${'%CD%84'.repeat(1200)}${'%CC%96'.repeat(1200)}`;
  assert.equal((await sendPath(postern, `${base}/visit`, { headers: { host: name } })).status, 421);
  assert.equal((await sendPath(postern, `${base}/folder/new`, { method: 'POST', headers: { origin: `http://${name}` } })).status, 403);
  assert.ok(parsedTexts.every((text) => text.length <= 300));
});
