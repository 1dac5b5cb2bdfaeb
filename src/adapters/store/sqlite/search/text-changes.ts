import type { DatabaseSync } from 'node:sqlite';
import type { SearchScope } from '#ports/search.ts';
import type { ChangedRecord } from './tenant-texts.ts';

const tables = ['share', 'access_user'] as const satisfies readonly SearchScope['table'][];

/**
 * Records every change of a searched text on a connection. Uses temporary triggers of this connection, so that the
 * database file stores no trigger, and a change writes no additional page. Changes that are rolled back are recorded too:
 * this is harmless, because the receiver reads each record again.
 * @returns a function that returns the changes since its last call
 */
export function trackTextChanges(database: DatabaseSync): () => readonly ChangedRecord[] {
  let changes: ChangedRecord[] = [];
  for (const table of tables) {
    database.function(`${table}_text_changed`, (tid, id) => {
      changes.push({ table, tid: Number(tid), id: Number(id) });
      return null;
    });
    for (const [event, row] of [
      ['INSERT', 'NEW'],
      ['UPDATE OF search_text', 'NEW'],
      ['DELETE', 'OLD'],
    ] as const)
      database.exec(
        `CREATE TEMP TRIGGER ${table}_text_${event.slice(0, 6).toLowerCase()} AFTER ${event} ON main.${table}
          BEGIN SELECT ${table}_text_changed(${row}.tid, ${row}.id); END`,
      );
  }
  return () => {
    const recordedChanges = changes;
    changes = [];
    return recordedChanges;
  };
}
