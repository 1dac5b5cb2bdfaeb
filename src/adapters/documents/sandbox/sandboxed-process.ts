import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { type Frame, FrameTooLarge, readFrames, writeFrame } from './frames.ts';
import { lowerPriority, memoryOf } from './process-resources.ts';
import { abortedExitCode } from './serve-tasks.ts';

/** Limits of a sandboxed process. */
export interface SandboxLimits {
  /** Memory of the process, in MiB. */
  readonly memory: number;
  /** Duration of a task, in ms, unless the task has its own. */
  readonly taskTime: number;
  /** Largest answer, in bytes. */
  readonly answer: number;
}

export interface SandboxOptions {
  /** The script of the process. */
  readonly script: string;
  /** Folders and files that the process may read. It may neither write nor use the network. */
  readonly readable: readonly string[];
  /** Whether it may load native code. The rules of the sandbox do not restrict such code. */
  readonly nativeCode: boolean;
  readonly limits: SandboxLimits;
}

/** Why a process did not answer: it took too much memory or time, answered too much, or ended for another reason. */
export type SandboxFailureCause = 'memory' | 'time' | 'answer' | 'ended';

/** The process ended, or was ended, without an answer. Start another one for further tasks. */
export class SandboxFailure extends Error {
  readonly why: SandboxFailureCause;

  constructor(why: SandboxFailureCause) {
    super(`the process ended without an answer: ${why}`);
    this.why = why;
  }
}

const wasmPagesPerMebibyte = 16;
const checkInterval = 50; // ms
const prlimit = '/usr/bin/prlimit';

/** Half of the memory for JavaScript and half for WebAssembly: so an allocation fails before the process must be killed. */
const memoryFlags = (memory: number) => [
  `--max-old-space-size=${memory / 2}`,
  `--wasm-max-mem-pages=${(memory / 2) * wasmPagesPerMebibyte}`,
];

const permissionFlags = ({ readable, nativeCode }: SandboxOptions) => [
  '--permission',
  ...readable.map((path) => `--allow-fs-read=${path}`),
  ...(nativeCode ? ['--allow-addons'] : []),
  '--disable-proto=throw',
  '--disallow-code-generation-from-strings',
  '--no-warnings',
];

/** Returns the command that starts the process. If the machine has `prlimit`, the kernel limits what the process may use, too. */
function commandOf(options: SandboxOptions): [string, ...string[]] {
  const { script, limits } = options;
  const node: [string, ...string[]] = [process.execPath, ...permissionFlags(options), ...memoryFlags(limits.memory), script];
  if (!existsSync(prlimit)) return node;
  return [prlimit, '--core=0', '--fsize=0', '--nofile=64', ...node];
}

const exitOf = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('close', resolve));

/** A process without environment, network and write access, whose memory and time are limited. It does one task at a time. */
export class SandboxedProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncGenerator<Frame>;
  readonly #limits: SandboxLimits;
  readonly #exit: Promise<void>;
  #failure: SandboxFailureCause | null = null;
  #hasEnded = false;

  constructor(options: SandboxOptions) {
    const [command, ...parameters] = commandOf(options);
    const child = spawn(command, parameters, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child = child;
    this.#limits = options.limits;
    this.#exit = exitOf(child).then((code) => {
      this.#hasEnded = true;
      if (code === abortedExitCode) this.#failure ??= 'memory';
    });
    child.on('error', () => {}); // 'close' follows
    child.stdin.on('error', () => {}); // the process has ended, which its exit reports
    if (child.pid !== undefined) lowerPriority(child.pid);
    this.#answers = readFrames(child.stdout, options.limits.answer);
  }

  /** Whether the process can take further tasks. */
  get isAlive(): boolean {
    return !this.#hasEnded && this.#failure === null;
  }

  /** Sends a task and returns the answer. The next task must wait for it. @param taskTime ms @throws SandboxFailure */
  async run(task: Frame, taskTime = this.#limits.taskTime): Promise<Frame> {
    using _watch = this.#watch(taskTime);
    try {
      await writeFrame(this.#child.stdin, task);
      const answer = await this.#answers.next();
      if (!answer.done) return answer.value;
    } catch (cause) {
      if (cause instanceof FrameTooLarge) this.#kill('answer');
    }
    await this.end();
    throw new SandboxFailure(this.#failure ?? 'ended');
  }

  /** Ends the process. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }

  #kill(why: SandboxFailureCause): void {
    this.#failure ??= why;
    this.#child.kill('SIGKILL');
  }

  /** Ends the process if a task takes too long, or the process takes too much memory. */
  #watch(taskTime: number): Disposable {
    const timeout = setTimeout(() => this.#kill('time'), taskTime);
    const { pid } = this.#child;
    const interval = setInterval(async () => {
      if (pid !== undefined && (await memoryOf(pid)) > this.#limits.memory) this.#kill('memory');
    }, checkInterval);
    return {
      [Symbol.dispose]() {
        clearTimeout(timeout);
        clearInterval(interval);
      },
    };
  }
}
