import pg from 'pg';
import { StoreAway, StoreFull, ValueRefused } from '#ports/store.ts';

// Classes and codes of PostgreSQL's appendix A.
const uniqueViolation = '23505';
const diskFull = '53100';
const readOnly = '25006'; // a standby answers: its primary has gone
const stoodStill = '25P03'; // the server ended a transaction that nothing was heard of
const lockRefused = '55P03'; // by a lock_timeout of the server
const conflicts = ['40001', '40P01'];
const cancelled = '57014';
const dataException = '22'; // a value that a column cannot hold or be compared with
const awayClasses = ['08', '53', '57'];

const codeOf = (cause: unknown) => (cause instanceof pg.DatabaseError ? (cause.code ?? '') : '');

export const isUniqueViolation = (cause: unknown): boolean => codeOf(cause) === uniqueViolation;

/** Returns whether a change met another one, and is to be run again: the two cannot have happened one after the other, or both took a name. */
export const hasCollided = (cause: unknown): boolean => conflicts.includes(codeOf(cause)) || isUniqueViolation(cause);

/** A statement took longer than it was allowed. */
export class TookTooLong extends StoreAway {}

/** A lock was not free in the time that its transaction gave it. */
export class LockRefused extends StoreAway {}

/** What a failed query means to whoever asked; what is neither the server's word nor a mistake of ours is a lost connection. */
export function storeError(cause: unknown): unknown {
  if (cause instanceof TypeError || cause instanceof RangeError) return cause;
  const code = codeOf(cause);
  if (code === diskFull) return new StoreFull('the disk of the database is full', { cause });
  if (code.startsWith(dataException)) return new ValueRefused('the database cannot look up such a value', { cause });
  if (code === lockRefused) return new LockRefused('a lock of the database is not free', { cause });
  if (code === cancelled) return new TookTooLong('the database takes too long to answer', { cause });
  const away =
    cause instanceof pg.DatabaseError
      ? awayClasses.includes(code.slice(0, 2)) || [readOnly, stoodStill].includes(code)
      : cause instanceof Error;
  return away ? new StoreAway('the database does not answer', { cause }) : cause;
}
