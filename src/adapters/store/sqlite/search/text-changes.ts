import type { DatabaseSync } from 'node:sqlite';
import type { SearchedRecords } from '#ports/search.ts';
import type { ChangedRecord } from './tenant-texts.ts';

const tables = ['share', 'access_user'] as const satisfies readonly SearchedRecords['table'][];

/**
 * Hears of every record whose text changes on a connection, by triggers of the connection alone: the database holds
 * nothing of it, and a change writes no page more. What is rolled back is told too: who hears of it reads it again.
 * @returns takes what was heard since
 */
export function trackTextChanges(database: DatabaseSync): () => readonly ChangedRecord[] {
  let heard: ChangedRecord[] = [];
  for (const table of tables) {
    database.function(`${table}_text_changed`, (tid, id) => {
      heard.push({ table, tid: Number(tid), id: Number(id) });
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
    const taken = heard;
    heard = [];
    return taken;
  };
}
