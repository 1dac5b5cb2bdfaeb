import { normalizeText } from '#core/unicode.ts';

/** The column of a field: its name in snake case. */
type ColumnOf<Field extends string> = Field extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${ColumnOf<Rest>}`
  : Field;

export const columnOf = <Field extends string>(field: Field): ColumnOf<Field> =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as ColumnOf<Field>; // `ColumnOf` describes the same conversion

/** The columns of flags and texts. A flag is 0 or 1 in every engine. */
type StoredColumns<Flag extends string, Text extends string> = { [F in Flag as ColumnOf<F>]: 0 | 1 } & {
  [F in Text as ColumnOf<F>]: string;
};

/** Flags and texts as a record contains them. */
type StoredValues<Flag extends string, Text extends string> = { [F in Flag]: boolean } & { [F in Text]: string };

/** Flags and texts in a request. An absent field does not change; null sets a flag to false, and a text to the empty text. */
type RequestedValues<Flag extends string, Text extends string> = { readonly [F in Flag]?: boolean | null } & {
  readonly [F in Text]?: string | null;
};

/** The columns of a record's stored fields. */
export type ColumnsOf<Fields> = Fields extends StoredFields<infer Flag, infer Text> ? StoredColumns<Flag, Text> : never;

/** The flags and texts of a record that are stored as a client sends them, with texts in Unicode NFC. Each has a column of its own. */
export class StoredFields<const Flag extends string, const Text extends string> {
  readonly flags: readonly Flag[];
  readonly texts: readonly Text[];
  readonly columns: readonly ColumnOf<Flag | Text>[];
  readonly #flagColumns: readonly (readonly [Flag, string])[];
  readonly #textColumns: readonly (readonly [Text, string])[];
  /**
   * All fields, with placeholder values. Copying it takes a quarter of the time of adding the fields one by one to an empty object:
   * V8 stores an object that grows like this as a hash table.
   */
  readonly #template: object;

  constructor({ flags, texts }: { readonly flags: readonly Flag[]; readonly texts: readonly Text[] }) {
    this.flags = flags;
    this.texts = texts;
    this.columns = [...flags, ...texts].map(columnOf);
    this.#flagColumns = flags.map((field) => [field, columnOf(field)]);
    this.#textColumns = texts.map((field) => [field, columnOf(field)]);
    this.#template = JSON.parse(JSON.stringify(Object.fromEntries([...flags, ...texts].map((field) => [field, '']))));
  }

  /** Returns the columns of the fields that a request contains, texts in normalized form. */
  toColumns(request: RequestedValues<Flag, Text>): Partial<StoredColumns<Flag, Text>> {
    const columns: Record<string, 0 | 1 | string> = {};
    for (const [field, column] of this.#flagColumns) {
      const value: unknown = Reflect.get(request, field);
      if (value !== undefined) columns[column] = value === true ? 1 : 0;
    }
    for (const [field, column] of this.#textColumns) {
      const value: unknown = Reflect.get(request, field);
      if (value !== undefined) columns[column] = typeof value === 'string' ? normalizeText(value) : '';
    }
    return columns as Partial<StoredColumns<Flag, Text>>; // each column got the type of its field
  }

  /** Returns the columns of all fields. A flag that the request does not contain is 0, and such a text is empty. */
  toNewColumns(request: RequestedValues<Flag, Text>): StoredColumns<Flag, Text> {
    const columns: Record<string, 0 | 1 | string> = {};
    for (const [, column] of this.#flagColumns) columns[column] = 0;
    for (const [, column] of this.#textColumns) columns[column] = '';
    return Object.assign(columns, this.toColumns(request)) as StoredColumns<Flag, Text>; // contains every column
  }

  /** Returns the fields of a row. */
  toFields(row: StoredColumns<Flag, Text>): StoredValues<Flag, Text> {
    const fields: Record<string, boolean | string> = { ...this.#template };
    for (const [field, column] of this.#flagColumns) fields[field] = Reflect.get(row, column) === 1;
    for (const [field, column] of this.#textColumns) fields[field] = String(Reflect.get(row, column));
    return fields as StoredValues<Flag, Text>; // contains every field
  }
}
