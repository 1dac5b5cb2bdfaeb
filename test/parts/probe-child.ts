// A sandboxed process that tries what a taken-over renderer would try. Its task names the attempt.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { serveTasks, TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';

const held: Buffer[] = [];

/** What the process can try. An attempt that the sandbox denies throws an error. */
const attempts: Readonly<Record<string, (port: number) => unknown>> = {
  nothing: () => {},
  readOtherFiles: () => readFileSync('/etc/passwd'),
  write: () => writeFileSync('/tmp/probe', 'x'),
  environment: () => {
    if (Object.keys(process.env).length === 0) throw new Error('there is no environment');
  },
  startProcess: () => spawnSync('true'),
  startThread: () => new Worker('', { eval: true }),
  network: (port) => new Promise((resolve, reject) => connect(port, '127.0.0.1').on('connect', resolve).on('error', reject)),
  evaluate: () => new Function('return 1')(),
  takeMemory() {
    for (;;) held.push(Buffer.alloc(1 << 20, 1));
  },
  neverEnd() {
    for (;;);
  },
  exit: () => process.exit(0),
  answerTooMuch: () => Buffer.alloc(2 << 20),
};

await serveTasks(async ({ header }) => {
  try {
    const result = await attempts[String(header['attempt'])]?.(Number(header['port']));
    return { header: {}, bytes: Buffer.isBuffer(result) ? result : Buffer.alloc(0) };
  } catch (cause) {
    throw new TaskRefused(cause instanceof Error ? cause.message : 'denied');
  }
});
