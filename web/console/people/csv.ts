import { parse } from 'csv-parse/browser/esm/sync';
import { stringify } from 'csv-stringify/browser/esm/sync';
import type { AccessUser } from '#core/records/access-user.ts';

/** The columns of people's CSV, as they are written and read. */
export const columns = ['username', 'firstName', 'lastName', 'email', 'active', 'password'] as const;
type Column = (typeof columns)[number];

/** One row of a file: its line, and its cells by column. */
export interface Row {
  readonly line: number;
  readonly cells: Readonly<Partial<Record<Column, string>>>;
}

/** What a file holds, or why it cannot be read. */
export type Read = { readonly rows: readonly Row[] } | { readonly wrong: string };

const known = (name: string): Column | undefined =>
  columns.find((column) => column.toLowerCase() === name.replace(/[\s_-]/g, '').toLowerCase());

/** The separator that the first line uses most: commas, semicolons and tabs are all met. */
function separatorOf(text: string): string {
  const first = text.split(/\r?\n/, 1)[0] ?? '';
  return [',', ';', '\t'].reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best));
}

/** Reads a CSV with a heading: the names of columns in any order and case; others are left out. */
export function readPeople(text: string): Read {
  try {
    const lines: number[] = [];
    const [head, ...body]: string[][] = parse(text, {
      bom: true,
      on_record: (record: string[], { lines: line }) => {
        lines.push(line);
        return record;
      },
      delimiter: separatorOf(text),
      skip_empty_lines: true,
      relax_column_count: true,
      trim: true,
    });
    const names = (head ?? []).map(known);
    if (!names.includes('username'))
      return { wrong: `The first line must name the columns: username, and any of ${columns.slice(1).join(', ')}.` };
    const cellsOf = (record: string[]) =>
      Object.fromEntries(record.flatMap((cell, index) => (names[index] ? [[names[index], cell] as const] : [])));
    return { rows: body.map((record, index) => ({ line: lines[index + 1] ?? 0, cells: cellsOf(record) })) };
  } catch (cause) {
    return { wrong: cause instanceof Error ? cause.message : 'The file is not CSV.' };
  }
}

const written = columns.filter((column) => column !== 'password');

/** People as CSV, without passwords, which nobody can read; no cell is a formula to a spreadsheet (OWASP, CSV injection). */
export function writePeople(people: readonly Pick<AccessUser, (typeof written)[number]>[]): string {
  return stringify([...people], {
    header: true,
    columns: written,
    cast: { boolean: String },
    escape_formulas: true,
    quoted_match: /;/,
    record_delimiter: '\r\n',
    eof: false,
  });
}

const yes = ['', 'true', 'yes', '1', 'active'];
const no = ['false', 'no', '0', 'inactive'];

/** Whether a cell says that the person can sign in; empty: they can. null: it says neither. */
export function activeIn(text: string | undefined): boolean | null {
  const word = (text ?? '').trim().toLowerCase();
  if (yes.includes(word)) return true;
  return no.includes(word) ? false : null;
}
