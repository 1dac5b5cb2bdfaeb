import pg from 'pg';
import { InvalidValue, StoreFull, StoreUnavailable } from '#ports/store.ts';

// Classes and codes of PostgreSQL's appendix A.
const uniqueViolation = '23505';
const diskFull = '53100';
const readOnlyTransaction = '25006'; // the server is a standby, or its database is read-only
const notSupported = '0A000'; // a standby refuses serializable transactions; a prepared statement is older than a migration
const idleInTransactionTimeout = '25P03'; // the server ended a transaction that sent no statement for too long
const lockNotAvailable = '55P03'; // a lock was not free within lock_timeout
const conflictCodes = ['40001', '40P01']; // serialization_failure, deadlock_detected
const queryCanceled = '57014';
const dataException = '22'; // a value that a column cannot hold or be compared with
const unavailableClasses = ['08', '53', '57']; // connection exception, insufficient resources, operator intervention

const codeOf = (cause: unknown) => (cause instanceof pg.DatabaseError ? (cause.code ?? '') : '');

export const isPostgresUniqueViolation = (cause: unknown): boolean => codeOf(cause) === uniqueViolation;

/**
 * Returns whether a change may have conflicted with another one and must run again: a serialization failure, a deadlock, or a unique
 * value that both inserted.
 */
export const isWriteConflict = (cause: unknown): boolean => conflictCodes.includes(codeOf(cause)) || isPostgresUniqueViolation(cause);

/** A statement exceeded its timeout, or was cancelled. */
export class StatementTimeout extends StoreUnavailable {}

/** A lock was not free within the lock timeout of its transaction. */
export class LockTimeout extends StoreUnavailable {}

/**
 * Returns the store's error for an error of the driver. An error that comes neither from the server nor from a mistake
 * in our code (TypeError, RangeError) means that the connection is lost, or that there is none.
 */
export function toStoreError(cause: unknown): unknown {
  if (cause instanceof TypeError || cause instanceof RangeError) return cause;
  const code = codeOf(cause);
  if (code === diskFull) return new StoreFull('the disk of the database is full', { cause });
  if (code.startsWith(dataException)) return new InvalidValue('the database cannot store or compare this value', { cause });
  if (code === lockNotAvailable) return new LockTimeout('the database could not get a lock in time', { cause });
  if (code === queryCanceled) return new StatementTimeout('the database statement timed out', { cause });
  const isUnavailable =
    cause instanceof pg.DatabaseError
      ? unavailableClasses.includes(code.slice(0, 2)) || [readOnlyTransaction, notSupported, idleInTransactionTimeout].includes(code)
      : cause instanceof Error;
  return isUnavailable ? new StoreUnavailable('the database is unavailable', { cause }) : cause;
}
