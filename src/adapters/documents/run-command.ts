import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { lowerPriority, memoryOfTree } from '#adapters/documents/sandbox/process-resources.ts';

/** What a command may use. */
export interface CommandLimits {
  /** ms. */
  readonly time: number;
  /** MiB, of all its processes together. */
  readonly memory: number;
  /** Bytes that it may write to standard output. */
  readonly output: number;
}

/** How a command has ended. `stopped`: it used too much, or a signal ended it, as after a crash. `failed`: with an error code. */
export interface CommandResult {
  readonly end: 'done' | 'stopped' | 'failed';
  readonly output: Uint8Array;
  /** The beginning of what it has written to standard error. */
  readonly error: string;
}

const maxErrorBytes = 1000;
const checkInterval = 100; // ms
const firstSignalCode = 128; // if a signal has ended a program, a shell returns this plus the number of the signal

/** Collects the beginning of what a stream contains. @param onMore called when there is more */
function collect(stream: Readable, maxBytes: number, onMore: () => void): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let left = maxBytes;
  stream.on('data', (piece: Buffer) => {
    if (left > 0) pieces.push(piece.subarray(0, left));
    left -= piece.length;
    if (left < 0) onMore();
  });
  return pieces;
}

/**
 * Runs a command with bytes as its standard input.
 * @param env environment of the command
 * @throws Error if it cannot be started
 */
export async function runCommand(
  [command, ...parameters]: [string, ...string[]],
  input: Uint8Array,
  limits: CommandLimits,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<CommandResult> {
  const child = spawn(command, parameters, { env: { ...env }, cwd: '/' });
  child.on('error', () => {}); // 'close' follows, or there is no process
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} cannot be started`);
  lowerPriority(pid);
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    child.kill('SIGKILL'); // if the command is bubblewrap, all processes of its sandbox end with it
  };
  const timer = setTimeout(stop, limits.time);
  const interval = setInterval(async () => {
    if ((await memoryOfTree(pid)) > limits.memory) stop();
  }, checkInterval);
  try {
    const output = collect(child.stdout, limits.output, stop);
    const errors = collect(child.stderr, maxErrorBytes, () => {});
    child.stdin.on('error', () => {}); // the command has ended, which 'close' reports
    child.stdin.end(input);
    const [code] = await once(child, 'close');
    const error = Buffer.concat(errors).toString().trim();
    const isKilled = isStopped || code === null || code > firstSignalCode;
    return { end: isKilled ? 'stopped' : code === 0 ? 'done' : 'failed', output: Buffer.concat(output), error };
  } finally {
    clearTimeout(timer);
    clearInterval(interval);
  }
}
