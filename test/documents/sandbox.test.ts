import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SandboxedProcess, SandboxFailure } from '#adapters/documents/sandbox/sandboxed-process.ts';
import { atEnd } from '../parts/at-end.ts';

const root = join(import.meta.dirname, '../..');
const readable = [join(root, 'src'), join(root, 'node_modules'), join(root, 'package.json'), join(root, 'test/parts')];
const noBytes = new Uint8Array();

function startProbe(t: TestContext, over: object = {}) {
  const limits = { memory: 256, taskTime: 20_000, answer: 1 << 20, ...over };
  const probe = new SandboxedProcess({ script: join(root, 'test/parts/probe-child.ts'), readable, nativeCode: false, limits });
  atEnd(t, () => probe.end());
  return (attempt: string, port = 0) => probe.run({ header: { attempt, port }, bytes: noBytes });
}

const failsBecause = (why: string) => (cause: unknown) => cause instanceof SandboxFailure && cause.why === why;

test('a renderer has no environment, and cannot read other files, write, use the network, start processes or threads, or run text as code', async (t) => {
  const run = startProbe(t);
  const server = createServer().listen(0, '127.0.0.1');
  atEnd(t, () => server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  assert.deepEqual((await run('nothing')).header, {});
  for (const attempt of ['readOtherFiles', 'write', 'environment', 'startProcess', 'startThread', 'network', 'evaluate'])
    assert.notEqual((await run(attempt, port)).header['refused'], undefined, attempt);
  assert.ok(!existsSync('/tmp/probe'));
});

test('a renderer that takes too much memory or time, or answers too much, is ended, and one that exits has failed', async (t) => {
  await assert.rejects(startProbe(t)('takeMemory'), failsBecause('memory'));
  await assert.rejects(startProbe(t, { taskTime: 1000 })('neverEnd'), failsBecause('time'));
  await assert.rejects(startProbe(t)('answerTooMuch'), failsBecause('answer'));
  await assert.rejects(startProbe(t)('exit'), failsBecause('ended'));
});
