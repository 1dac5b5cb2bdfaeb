import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Returns whether a process has ended, by itself or by a signal. */
export const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Sends a signal to a process and waits until it has ended. A process that has ended before emits no further `exit` event. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
