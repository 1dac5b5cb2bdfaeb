import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import type { TestPostern } from '../start.ts';

const size = 4 * 2 ** 30; // a sparse file: it needs no disk space

export async function addLargeFile(postern: TestPostern): Promise<void> {
  const file = await open(join(postern.files, 'large.bin'), 'w');
  await file.truncate(size);
  await file.close();
}

/** Starts a download and reads it slowly, so that it keeps running. @returns `connectionError`, a promise of the error that ends it */
export async function startSlowDownload(t: TestContext, url: string, headers: Record<string, string>) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).once('error', reject);
  });
  assert.equal(response.statusCode, 200);
  const connectionError = new Promise<NodeJS.ErrnoException>((resolve) => response.once('error', resolve));
  response.on('data', () => {
    response.pause();
    setTimeout(() => response.resume(), 20);
  });
  atEnd(t, () => response.destroy());
  return { connectionError };
}
