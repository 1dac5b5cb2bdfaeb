import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { WebdavAuth } from './webdav-auth.ts';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const configuration = { url: 'https://files.example.com/dav', username: 'ann', password: 'secret' };
const challenge = 'Digest realm="files", nonce="n1", algorithm=MD5-sess, qop="auth"';

/** Returns the parameters of the header of a request. */
function parametersOf(auth: WebdavAuth): Record<string, string> {
  const header = auth.header('GET', '/dav/a') ?? '';
  return Object.fromEntries([...header.matchAll(/(\w+)=(?:"([^"]*)"|([^,]*))/g)].map(([, name, quoted, bare]) => [name, quoted ?? bare]));
}

test('with MD5-sess, a server accepts every request even if it computes the secret of a session only once (RFC 7616, 3.4.2)', () => {
  const auth = new WebdavAuth(configuration);
  assert.ok(auth.accept(challenge, auth.version));
  const first = parametersOf(auth);
  const secret = md5(`${md5('ann:files:secret')}:n1:${first['cnonce']}`);
  for (const { nc, cnonce, response } of [first, parametersOf(auth)])
    assert.equal(response, md5(`${secret}:n1:${nc}:${cnonce}:auth:${md5('GET:/dav/a')}`), `request ${nc}`);
});
