import type { AliasedExpression } from 'kysely';

/** Queries for the matching records, without order and limit. */
export interface Matches {
  /** The ids with the values that the search is sorted by. */
  readonly rows: AliasedExpression<{ id: number; value: string | number }, 'matches'>;
  /** The ids only. This query does not depend on the sort field, so that one count can be cached for all orders. */
  readonly ids: AliasedExpression<{ id: number }, 'matches'>;
}

/** The last record of the previous page. The next page starts after it. */
export interface SearchPosition {
  readonly value: string | number;
  readonly id: number;
}

/** A table and a tenant: the tenant's records in the table, whose texts are searched for words. */
export interface SearchScope {
  readonly table: 'share' | 'access_user';
  readonly tid: number;
}

/** A search word. A record matches if its own folded text contains the word, or if the text of its location does. */
export interface WordMatch {
  readonly word: string;
  /** Ids of the locations whose text contains the word. */
  readonly locationIds: readonly number[];
  /** The records that pass all filters, the word included. */
  readonly matches: Matches;
}

export interface SearchQuery {
  /** The records that pass all filters except `word`. */
  readonly matches: Matches;
  /** null: no word, or one that is already a filter of `matches`. */
  readonly word: WordMatch | null;
  /**
   * The records, if a text index can find words in them; else null. Set also without a word: then the index is loaded for later queries.
   */
  readonly searchedRecords: SearchScope | null;
  /** Whether a filter other than `word` excludes records. */
  readonly hasOtherFilter: boolean;
  /** Number of records without any filter; null: unknown. */
  readonly recordCount: number | null;
  /** Changes whenever a count of this tenant may have changed; null: unknown, so that counts cannot be cached. */
  readonly countVersion: string | null;
  readonly order: 'asc' | 'desc';
  readonly after: SearchPosition | null;
  readonly startIndex: number;
  readonly pageSize: number;
}

/** The records of a page in the requested order, and the number of matching records on all pages. */
export interface SearchPage {
  readonly rows: readonly { readonly id: number; readonly value: string | number }[];
  readonly total: number;
}
