/** Returns SQLite's extended result code, or 0 for an error that is not from SQLite. */
export const sqliteCodeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;

const uniqueCodes = [2067, 1555]; // SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY
const lostCodes = [10, 11, 26]; // SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB
const ioError = 10;
const noMemory = 3082; // SQLITE_IOERR_NOMEM: does not mean that the disk failed
const fullCode = 13; // SQLITE_FULL
const indexCannotGrow = 4874; // SQLITE_IOERR_SHMSIZE: no space to extend the -shm file

export const isSqliteUniqueViolation = (error: unknown) => uniqueCodes.includes(sqliteCodeOf(error));

/** Returns whether the database file can no longer be trusted. If a change fails in this way, the process must end without a response. */
export const isDatabaseLost = (error: unknown) =>
  lostCodes.includes(sqliteCodeOf(error) & 0xff) && !isSqliteFull(error) && sqliteCodeOf(error) !== noMemory;

/** Returns whether the error of a read means that the disk failed. A damaged page does not count: other pages can still be read. */
export const isReadFailure = (error: unknown) => isDatabaseLost(error) && (sqliteCodeOf(error) & 0xff) === ioError;

export const isSqliteFull = (error: unknown) => (sqliteCodeOf(error) & 0xff) === fullCode || sqliteCodeOf(error) === indexCannotGrow;

/** Returns whether the pages themselves are damaged: SQLITE_CORRUPT, SQLITE_NOTADB. */
export const isDamageError = (error: unknown) => [11, 26].includes(sqliteCodeOf(error) & 0xff);
