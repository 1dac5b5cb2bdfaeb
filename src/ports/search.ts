import type { AliasedExpression } from 'kysely';

/** Records that match, neither ordered nor cut. */
export interface Matches {
  /** With what they are sorted by. */
  readonly rows: AliasedExpression<{ id: number; value: string | number }, 'found'>;
  /** The same whatever they are sorted by, so that they are counted once for every order. */
  readonly ids: AliasedExpression<{ id: number }, 'found'>;
}

/** Where a walk stands: behind this record. */
export interface SearchPosition {
  readonly value: string | number;
  readonly id: number;
}

/** A tenant's records in whose texts words are looked for. */
export interface SearchedRecords {
  readonly table: 'share' | 'access_user';
  readonly tid: number;
}

/** A word that records hold in their folded text, or in that of what they lie in. */
export interface WordMatch {
  readonly word: string;
  /** Numbers of the locations whose own text holds it. */
  readonly within: readonly number[];
  /** What all filters let through, the word among them. */
  readonly matches: Matches;
}

/** A page of a search. */
export interface SearchQuery {
  /** What all filters but the word of `holding` let through. */
  readonly matches: Matches;
  readonly word: WordMatch | null;
  /** The texts that hold it, or that a word may be looked for in next. */
  readonly texts: SearchedRecords | null;
  /** Does a filter other than that word narrow it? */
  readonly narrowed: boolean;
  /** How many there are that no filter leaves out, where that is kept. */
  readonly size: number | null;
  /** Another text as soon as a count of this tenant's may have changed; null: that is not known. */
  readonly version: string | null;
  readonly order: 'asc' | 'desc';
  readonly after: SearchPosition | null;
  readonly startIndex: number;
  readonly pageSize: number;
}

/** Records of a page in its order, and how many match in all. */
export interface SearchPage {
  readonly rows: readonly { readonly id: number; readonly value: string | number }[];
  readonly total: number;
}
