import { type SqlBool, sql } from 'kysely';
import type { Dialect } from '#ports/store.ts';
import type { Connections } from './pool.ts';

/**
 * Does `%word%` name a part of three letters that an index of pg_trgm could look up? A part lies within a run of letters
 * and digits, or at an end of one that the word itself shows. Without one the index would be read whole, which takes
 * minutes where the table takes seconds.
 * @param letter one character of a run, as the source of a regular expression
 */
function hasPart(letter: string): (word: string) => boolean {
  const part = new RegExp(`[${letter}]{3}|[^${letter}][${letter}]|[${letter}]{2}[^${letter}]`, 'u');
  return (word) => part.test(word);
}

/**
 * How words are looked up in this database: one made with LC_CTYPE C knows no letters but those of ASCII. Where no part
 * of a word can be, the condition is written so that no index of texts is taken.
 */
export async function wordsOver(connections: Connections): Promise<Dialect['holds']> {
  const { rows } = await connections.with((client) => connections.ask(client, "SELECT cardinality(show_trgm('ж書')) > 0 AS known"));
  const isIndexed = hasPart(Reflect.get(Object(rows[0]), 'known') === true ? '\\p{L}\\p{N}' : 'A-Za-z0-9');
  return (column, word) => {
    const text = isIndexed(word) ? sql.ref(column) : sql`(${sql.ref(column)} || '')`;
    return sql<SqlBool>`${text} like ${`%${word.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`;
  };
}
