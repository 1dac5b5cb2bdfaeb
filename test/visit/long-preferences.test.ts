import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPostern } from '../start.ts';

const many = (entry: string) => entry.repeat(Math.floor(7000 / entry.length));

test('only the first 1000 characters of the Accept and Accept-Language headers are read', async (t) => {
  const postern = await startPostern(t);
  const page = async (headers: Record<string, string>) => {
    const { headers: responseHeaders, body } = await postern.visit('/s/nope', { headers });
    return [responseHeaders.get('content-type')?.split(';')[0], /<html lang="(\w+)"/.exec(String(body))?.[1]];
  };
  assert.deepEqual(await page({ accept: `text/html,${many('a/b,')}`, 'accept-language': `de,${many('x,')}` }), ['text/html', 'de']);
  assert.deepEqual(await page({ accept: 'text/html', 'accept-language': `${many('x,')}de` }), ['text/html', 'en']);
  assert.deepEqual(await page({ accept: `${many('a/b,')}text/html` }), ['application/problem+json', undefined]);
});
