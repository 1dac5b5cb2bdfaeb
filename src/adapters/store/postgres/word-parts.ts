import { type SqlBool, sql } from 'kysely';
import type { Dialect } from '#ports/store.ts';
import type { ConnectionPool } from './pool.ts';

/**
 * Returns a function that checks whether an index of pg_trgm can look up `%word%`. For that, the word needs a trigram, such as three
 * consecutive letters or digits. pg_trgm puts two spaces before and one space after each group of letters and digits, so `-a` and `ab-`
 * also contain a trigram. Without one, PostgreSQL would read the entire index, which takes minutes; reading the table takes seconds.
 * @param letter what stands between [ and ] in a regular expression that matches one letter or digit
 */
function hasTrigram(letter: string): (word: string) => boolean {
  const trigram = new RegExp(`[${letter}]{3}|[^${letter}][${letter}]|[${letter}]{2}[^${letter}]`, 'u');
  return (word) => trigram.test(word);
}

/**
 * Returns the condition by which this database searches for words. A database with LC_CTYPE C recognizes only ASCII letters.
 * For a word without a trigram, the condition is written so that PostgreSQL cannot use the index of texts.
 */
export async function wordCondition(connections: ConnectionPool): Promise<Dialect['containsWord']> {
  const { rows } = await connections.withClient((client) =>
    connections.query(client, "SELECT cardinality(show_trgm('ж書')) > 0 AS recognized"),
  );
  const canUseIndex = hasTrigram(Reflect.get(Object(rows[0]), 'recognized') === true ? '\\p{L}\\p{N}' : 'A-Za-z0-9');
  return (column, word) => {
    const text = canUseIndex(word) ? sql.ref(column) : sql`(${sql.ref(column)} || '')`;
    return sql<SqlBool>`${text} like ${`%${word.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`;
  };
}
