import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { isDamage } from './errors.ts';

const mostFindings = 5;

/** Reads every page; in a thread of its own, since that takes seconds for a million records. */
function findings(): string[] {
  try {
    const database = new DatabaseSync(String(workerData), { readOnly: true });
    const rows = database.prepare(`PRAGMA quick_check(${mostFindings})`).all();
    return rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok');
  } catch (cause) {
    // No memory, or a database in use, says nothing of its pages.
    return isDamage(cause) && cause instanceof Error ? [cause.message] : [];
  }
}

parentPort?.postMessage(findings());
