import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { adminKey } from '../start.ts';

const checkout = join(import.meta.dirname, '../..');

export interface PosternProcess {
  readonly child: ChildProcess;
  /** Returns everything that the process has written to stdout and stderr. */
  readonly output: () => string;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Waits until the output matches. Rejects if the process ends first. */
  readonly waitForOutput: (pattern: RegExp) => Promise<RegExpExecArray>;
}

/**
 * Starts the built server as a process, and does not wait until it listens.
 * @param wrapper a program and its parameters, to which the command of the server is appended, such as `unshare -m`
 */
export function spawnPostern(t: TestContext, environment: Record<string, string>, wrapper: readonly string[] = []): PosternProcess {
  const { PATH = '' } = process.env;
  const [program = '', ...parameters] = [...wrapper, process.execPath, '--disable-warning=ExperimentalWarning', 'build/server/main.js'];
  const child = spawn(program, parameters, {
    cwd: checkout,
    env: { PATH, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let hasEnded = false;
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      text += chunk;
      child.emit('output');
    });
  const ended = once(child, 'close').then(([code, signal]) => {
    hasEnded = true;
    child.emit('output');
    return { code, signal };
  });
  atEnd(t, () => child.kill('SIGKILL'));
  async function waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(text);
      if (match) return match;
      if (hasEnded) throw new Error(`Postern ended without the output ${pattern}: ${text}`);
      await once(child, 'output');
    }
  }
  return { child, output: () => text, ended, waitForOutput };
}

/** Starts the built server as a process, and waits until it listens. */
export async function runPostern(t: TestContext, environment: Record<string, string>, wrapper: readonly string[] = []) {
  const running = spawnPostern(t, { POSTERN_API_KEY: adminKey, ...environment }, wrapper);
  const [, publicUrl = ''] = await running.waitForOutput(/links begin with (http:\S+)/);
  const [, apiUrl = ''] = await running.waitForOutput(/Try the API: +(http:\S+)\/docs/);
  await running.waitForOutput(/Then: .*\n/);
  /** Calls a management operation. */
  async function send(name: string, body: object = {}, key = environment['POSTERN_API_KEY'] ?? adminKey) {
    const isSearch = /\/search$/.test(name);
    const query = isSearch ? `?${new URLSearchParams(Object.entries(body).map(([field, value]) => [field, String(value)]))}` : '';
    const method = isSearch ? 'GET' : /\/delete$/.test(name) ? 'DELETE' : 'POST';
    const response = await fetch(`${apiUrl}/api/v1/${name}${query}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(isSearch ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: each test checks the fields that it needs
    return { status: response.status, body: (await response.json().catch(() => null)) as any };
  }
  return { ...running, publicUrl, apiUrl, send };
}
export type RunningPostern = Awaited<ReturnType<typeof runPostern>>;
