import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { until } from '../ports/until.ts';
import { temporaryFolder } from '../start.ts';

const project = join(import.meta.dirname, '../..');

interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

function processes(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, state, parent] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return []; // the process has ended in the meantime
      }
    });
}

/** Returns all descendants of a process: its children, then their children, and so on. */
function descendants(pid: number): RunningProcess[] {
  const all = processes();
  const result: RunningProcess[] = [];
  for (let next = [pid]; next.length > 0; ) {
    const children = all.filter(({ parent }) => next.includes(parent));
    result.push(...children);
    next = children.map((child) => child.pid);
  }
  return result;
}

/** Runs `npm start` and waits until Postern listens. @returns npm and its descendants */
async function npmStart(t: TestContext): Promise<{ npm: ChildProcess; chain: RunningProcess[] }> {
  const environment = { POSTERN_DATA: await temporaryFolder(t), PORT: '0' };
  const { PATH = '', HOME = '', npm_execpath: npmPath } = process.env;
  const [command, first] = npmPath ? [process.execPath, [npmPath]] : ['npm', []];
  const npm = spawn(command, [...first, 'start'], {
    cwd: project,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  npm.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await until(() => /links begin with http/.test(text));
  const chain = descendants(npm.pid ?? 0);
  atEnd(t, () => {
    for (const { pid } of chain) if (processes().some((running) => running.pid === pid)) process.kill(pid, 'SIGKILL');
  });
  return { npm, chain };
}

const stillRunning = (chain: readonly RunningProcess[]) =>
  processes().filter(({ pid, command }) => chain.some((one) => one.pid === pid && one.command === command));

for (const [name, end] of [
  ['npm gets SIGTERM', ({ npm }: { npm: ChildProcess }) => npm.kill('SIGTERM')],
  ['npm is killed', ({ npm }: { npm: ChildProcess }) => npm.kill('SIGKILL')],
  [
    'the script of npm start is killed',
    ({ chain }: { chain: RunningProcess[] }) =>
      process.kill(chain.find(({ command }) => command.includes('scripts/start.mjs') && !command.startsWith('sh'))?.pid ?? 0, 'SIGKILL'),
  ],
] as const)
  test(`every process of npm start ends when ${name}`, { timeout: 60_000 }, async (t) => {
    const running = await npmStart(t);
    assert.ok(running.chain.some(({ command }) => command.includes('build/server/main.js')));
    end(running);
    await until(() => stillRunning(running.chain).length === 0);
  });
