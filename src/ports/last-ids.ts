/** The highest id that each table has assigned, by table. A copied database must assign only higher ids. */
export type LastIds = Readonly<Record<string, number>>;
