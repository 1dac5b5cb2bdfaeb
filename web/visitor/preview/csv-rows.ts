import { parse } from 'csv-parse/browser/esm/sync';
import { csvSeparatorOf } from '#core/csv-separator.ts';

const [maxRows, maxColumns, maxCell] = [1000, 100, 1000]; // of a table that a person reads; maxCell: characters

/** The rows of a table, the first of which names the columns. */
export interface CsvRows {
  readonly rows: readonly (readonly string[])[];
  /** Whether the file has further rows or columns. */
  readonly isCut: boolean;
}

/** Reads the rows of a CSV text. @param isCut whether the text ends in the middle of the file @returns null if it is no table */
export function readCsvRows(text: string, isCut: boolean): CsvRows | null {
  const complete = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  try {
    const rows: string[][] = parse(complete, {
      ...{ bom: true, delimiter: csvSeparatorOf(complete), skip_empty_lines: true, relax_column_count: true, relax_quotes: true },
      to: maxRows + 2,
    });
    if (rows.length === 0 || !rows.some(({ length }) => length > 1)) return null;
    const hasMore = rows.length > maxRows + 1 || rows.some(({ length }) => length > maxColumns);
    return {
      rows: rows.slice(0, maxRows + 1).map((row) => row.slice(0, maxColumns).map((cell) => cell.slice(0, maxCell))),
      isCut: isCut || hasMore,
    };
  } catch {
    return null;
  }
}
