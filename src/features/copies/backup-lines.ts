import { sql } from 'kysely';
import type { LastIds } from '#ports/last-ids.ts';
import type { Snapshot } from '#ports/snapshot.ts';
import { DamagedBackup } from './backup-text.ts';
import { type CopiedRow, maxCopyPage, readPages, type TableName, tableNames } from './copied-tables.ts';
import type { CopyProgress, RowSource } from './fill-store.ts';

const format = 1;

const minTextLength = 1 << 20; // characters; a text is yielded when it has reached this length, or at the end of a page of rows

/** Yields the lines of rows, many joined to one text: a few long writes are faster than many short ones. */
function* rowLines(table: TableName, rows: readonly CopiedRow[]): Generator<string> {
  let text = '';
  for (const row of rows) {
    text += `${JSON.stringify([table, row])}\n`;
    if (text.length < minTextLength) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** Checks that a database has exactly the migrations of this version. @throws Error */
async function checkMigrations({ db }: Snapshot, migrations: readonly string[]): Promise<void> {
  const { rows } = await sql<{ name: string }>`select name from migration order by name`.execute(db);
  if (JSON.stringify(rows.map(({ name }) => name)) === JSON.stringify(migrations)) return;
  throw new Error('another version of Postern has made the database: make the backup with that version, or start this version first');
}

/**
 * Yields the text of a backup, often several lines at a time: a header, every row of the copied tables, and an end line as the last one.
 * @param migrations names of the migrations of this version; only a version with the same ones can restore the backup
 * @throws Error if the database has the migrations of another version
 */
export async function* backupLines(snapshot: Snapshot, migrations: readonly string[], progress: CopyProgress): AsyncGenerator<string> {
  await checkMigrations(snapshot, migrations);
  yield `${JSON.stringify({ postern: 'backup', format, migrations })}\n`;
  let total = 0;
  for (const table of tableNames) {
    let rows = 0;
    for await (const page of readPages(snapshot.db, table)) {
      yield* rowLines(table, page);
      rows += page.length;
      progress('copied', table, rows);
    }
    total += rows;
  }
  yield `${JSON.stringify({ end: true, rows: total, lastIds: snapshot.lastIds })}\n`;
}

/** Returns a snapshot as a source of rows. */
export const snapshotSource = (snapshot: Snapshot): RowSource => ({
  async *pages() {
    for (const table of tableNames) for await (const rows of readPages(snapshot.db, table)) yield { table, rows };
  },
  lastIds: async () => snapshot.lastIds,
});

const isTable = (name: unknown): name is TableName => tableNames.some((table) => table === name);
const isRow = (value: unknown): value is CopiedRow => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The last line of a backup. */
interface BackupEnd {
  readonly rows: number;
  readonly lastIds: LastIds;
}

function parseEnd(value: CopiedRow): BackupEnd {
  const lastIds = isRow(value['lastIds']) ? Object.entries(value['lastIds']) : [];
  return { rows: Number(value['rows']), lastIds: Object.fromEntries(lastIds.map(([table, id]) => [table, Number(id)])) };
}

function checkHeader(header: unknown, migrations: readonly string[]): void {
  if (!isRow(header) || header['postern'] !== 'backup' || header['format'] !== format)
    throw new Error('the file is not a backup of Postern');
  if (JSON.stringify(header['migrations']) !== JSON.stringify(migrations))
    throw new Error('the backup was made by another version of Postern: restore it with that version, then start this one');
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new DamagedBackup(`line ${number} of the backup is damaged`, { cause });
  }
}

/**
 * Returns a backup as a source of rows. Reading it throws a DamagedBackup if the file cannot be read or a line is not JSON. It throws an
 * Error if the file is not a complete backup of this version.
 * @param open returns the lines of the backup from the beginning
 */
export function backupSource(open: () => AsyncIterable<string>, migrations: readonly string[]): RowSource {
  let end: BackupEnd | undefined;
  async function* pages(): AsyncGenerator<{ table: TableName; rows: CopiedRow[] }> {
    let [lineNumber, total] = [0, 0];
    let page: { table: TableName; rows: CopiedRow[]; length: number } | undefined;
    end = undefined;
    for await (const line of open()) {
      lineNumber += 1;
      const value = parseLine(line, lineNumber);
      if (lineNumber === 1) checkHeader(value, migrations);
      else if (isRow(value)) end = parseEnd(value);
      else {
        const [table, row]: unknown[] = Array.isArray(value) ? value : [];
        if (!isTable(table) || !isRow(row)) throw new Error(`line ${lineNumber} of the backup is not a row`);
        if (page && (page.table !== table || page.rows.length >= maxCopyPage.rows || page.length > maxCopyPage.bytes)) {
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
    if (!end) throw new Error('the backup is incomplete: its end is missing');
    if (end.rows !== total) throw new Error(`the backup is incomplete: it has ${total} rows instead of ${end.rows}`);
  }
  return {
    pages,
    async lastIds() {
      if (!end) throw new Error('the backup is incomplete: its end is missing');
      return end.lastIds;
    },
  };
}
