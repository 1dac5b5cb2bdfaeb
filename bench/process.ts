import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { endProcess } from '../test/parts/end-process.ts';

const ticksASecond = 100; // Linux: sysconf(_SC_CLK_TCK)

/** A server in its own process, and the resources that it has used so far. */
export interface MeasuredServer extends AsyncDisposable {
  readonly url: string;
  /** CPU time in seconds, user and system. */
  cpu(): number;
  /** Resident memory, current and highest, in MiB. */
  memory(): { now: number; most: number };
}

function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksASecond;
}

function memoryOf(pid: number): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { now: field('VmRSS'), most: field('VmHWM') };
}

/**
 * Starts a server.
 * @param ready matches the line that a ready server prints, and captures the port (of `servers/slow-readers.ts`: how many downloads are open)
 */
export async function startServer(
  script: string,
  args: readonly string[],
  environment: Record<string, string>,
  ready: RegExp,
  flags: readonly string[] = [],
): Promise<MeasuredServer & { readonly capturedText: string }> {
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16', ...environment };
  const child: ChildProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...flags, script, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const capturedText = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      const capture = ready.exec(text)?.[1];
      if (capture) resolve(capture);
    });
    child.once('exit', () => reject(new Error(`${script} ended`)));
  });
  return { ...measuredServerOf(child, `http://127.0.0.1:${capturedText}`), capturedText };
}

/** Returns functions that measure a running server. Disposal stops it. @param child a process that has no child processes */
export function measuredServerOf(child: ChildProcess, url: string): MeasuredServer {
  const pid = child.pid ?? 0;
  return {
    url,
    cpu: () => cpuOf(pid),
    memory: () => memoryOf(pid),
    async [Symbol.asyncDispose]() {
      await endProcess(child, 'SIGTERM');
    },
  };
}
