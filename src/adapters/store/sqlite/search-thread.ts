import { parentPort, workerData } from 'node:worker_threads';
import { openConnection } from './connection.ts';

const connection = openConnection(String(workerData), { readOnly: true });

/** A question to the thread, and its answer under the same number. */
export interface Asked {
  readonly number: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

parentPort?.on('message', ({ number, sql, parameters }: Asked) => {
  try {
    parentPort?.postMessage({ number, answer: connection.run(sql, parameters) });
  } catch (cause) {
    parentPort?.postMessage({ number, problem: cause instanceof Error ? cause.message : 'unknown' });
  }
});
