import type { LastIds, Snapshot } from '#ports/snapshot.ts';
import { DamagedBackup } from './backup-text.ts';
import { largestPage, pagesOf, type Row, type TableName, tableNames } from './copied-tables.ts';
import type { Progress, RowSource } from './fill-store.ts';

const format = 1;

const longestText = 1 << 20; // characters of lines that are written together

/** The lines of some rows, short ones together. */
function* linesOf(table: TableName, rows: readonly Row[]): Generator<string> {
  let text = '';
  for (const row of rows) {
    text += `${JSON.stringify([table, row])}\n`;
    if (text.length < longestText) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** The lines of a backup: what made it, every row as its table and its columns, and an end that tells it is whole. */
export async function* backupLines(snapshot: Snapshot, migrations: readonly string[], progress: Progress): AsyncGenerator<string> {
  yield `${JSON.stringify({ postern: 'backup', format, migrations })}\n`;
  let total = 0;
  for (const table of tableNames) {
    let rows = 0;
    for await (const page of pagesOf(snapshot.db, table)) {
      yield* linesOf(table, page);
      rows += page.length;
      progress('copied', table, rows);
    }
    total += rows;
  }
  yield `${JSON.stringify({ end: true, rows: total, lastIds: snapshot.lastIds })}\n`;
}

/** The rows of a snapshot, as they are. */
export const snapshotSource = (snapshot: Snapshot): RowSource => ({
  async *pages() {
    for (const table of tableNames) for await (const rows of pagesOf(snapshot.db, table)) yield { table, rows };
  },
  lastIds: async () => snapshot.lastIds,
});

const isTable = (name: unknown): name is TableName => tableNames.some((table) => table === name);
const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

interface End {
  readonly rows: number;
  readonly lastIds: LastIds;
}

function endOf(value: Row): End {
  const lastIds = isRow(value['lastIds']) ? Object.entries(value['lastIds']) : [];
  return { rows: Number(value['rows']), lastIds: Object.fromEntries(lastIds.map(([table, id]) => [table, Number(id)])) };
}

function checkHead(head: unknown, migrations: readonly string[]): void {
  if (!isRow(head) || head['postern'] !== 'backup' || head['format'] !== format) throw new Error('this is no backup of Postern');
  if (JSON.stringify(head['migrations']) !== JSON.stringify(migrations))
    throw new Error('the backup was made by another version of Postern: restore it with that one, then start this one');
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new DamagedBackup(`line ${number} of the backup is damaged`, { cause });
  }
}

/**
 * The rows of a backup.
 * @param open its lines from the beginning
 * @throws where it is none, another version's, or not whole
 */
export function backupSource(open: () => AsyncIterable<string>, migrations: readonly string[]): RowSource {
  let end: End | undefined;
  async function* pages(): AsyncGenerator<{ table: TableName; rows: Row[] }> {
    let [number, total] = [0, 0];
    let page: { table: TableName; rows: Row[]; length: number } | undefined;
    end = undefined;
    for await (const line of open()) {
      number += 1;
      const value = parseLine(line, number);
      if (number === 1) checkHead(value, migrations);
      else if (isRow(value)) end = endOf(value);
      else {
        const [table, row]: unknown[] = Array.isArray(value) ? value : [];
        if (!isTable(table) || !isRow(row)) throw new Error(`line ${number} of the backup is no row`);
        if (page && (page.table !== table || page.rows.length >= largestPage.rows || page.length > largestPage.bytes)) {
          yield page;
          page = undefined;
        }
        page ??= { table, rows: [], length: 0 };
        page.rows.push(row);
        page.length += line.length;
        total += 1;
      }
    }
    if (page) yield page;
    if (end?.rows !== total) throw new Error('the backup is not whole: its end is missing');
  }
  return {
    pages,
    async lastIds() {
      if (!end) throw new Error('the backup is not whole: its end is missing');
      return end.lastIds;
    },
  };
}
