import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { isDamageError } from './errors.ts';

const maxFindings = 5;

/** Checks every page and returns the damage. Runs in a thread of its own, since a million records take seconds. */
function findDamage(): string[] {
  try {
    const database = new DatabaseSync(String(workerData), { readOnly: true });
    const rows = database.prepare(`PRAGMA quick_check(${maxFindings})`).all();
    return rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok');
  } catch (cause) {
    // Other errors, such as no memory or a locked database, do not mean that a page is damaged.
    return isDamageError(cause) && cause instanceof Error ? [cause.message] : [];
  }
}

parentPort?.postMessage(findDamage());
