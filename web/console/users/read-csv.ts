import { parse } from 'csv-parse/browser/esm/sync';
import { csvSeparatorOf } from '#core/csv-separator.ts';

/** A CSV file: the headings in its first line that is not empty, and the records below, each with the number of its last line. */
export interface CsvTable {
  readonly headings: readonly string[];
  readonly records: readonly { readonly line: number; readonly cells: readonly string[] }[];
}

/** A table, or the reason why the text cannot be read. */
export type ReadResult = { readonly table: CsvTable } | { readonly error: string };

/**
 * Decodes a text file. Spreadsheets write UTF-8, UTF-16 with a byte order mark, or, in Western Europe, Windows-1252.
 * A file without this mark that is not valid UTF-8 is decoded as Windows-1252.
 */
export function decodeText(bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Reads a CSV text whose first line names its columns. The cells are separated by commas, semicolons or tabs. */
export function readCsv(text: string): ReadResult {
  try {
    const lines: number[] = [];
    const [headings = [], ...body]: string[][] = parse(text, {
      bom: true,
      on_record: (record: string[], { lines: line }) => {
        lines.push(line);
        return record;
      },
      delimiter: csvSeparatorOf(text),
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      relax_column_count: true,
      trim: true,
    });
    return { table: { headings, records: body.map((cells, index) => ({ line: lines[index + 1] ?? 0, cells })) } };
  } catch (cause) {
    return { error: cause instanceof Error ? cause.message : 'The file is not CSV.' };
  }
}
