/** The highest id that each table has assigned, by table. A copied database must not assign these ids again. */
export type LastIds = Readonly<Record<string, number>>;
