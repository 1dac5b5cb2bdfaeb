/** SQLite's extended result code; 0: the error is none of SQLite's. */
export const codeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;

const uniqueCodes = [2067, 1555]; // SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY
const lostCodes = [10, 11, 26]; // SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB
const ioError = 10;
const noMemory = 3082; // SQLITE_IOERR_NOMEM: says nothing of the disk
const fullCode = 13; // SQLITE_FULL
const indexCannotGrow = 4874; // SQLITE_IOERR_SHMSIZE: there is no room for more of the -shm file

export const isUniqueViolation = (error: unknown) => uniqueCodes.includes(codeOf(error));

/** Can nothing more be believed of this file? Then the process must end without an answer (design: commit). */
export const isLost = (error: unknown) => lostCodes.includes(codeOf(error) & 0xff) && !isFull(error) && codeOf(error) !== noMemory;

/** Did the disk fail while it was read? A damaged page alone is another matter: other pages can be read. */
export const isUnreadable = (error: unknown) => isLost(error) && (codeOf(error) & 0xff) === ioError;

export const isFull = (error: unknown) => (codeOf(error) & 0xff) === fullCode || codeOf(error) === indexCannotGrow;

/** Are the pages themselves damaged? SQLITE_CORRUPT, SQLITE_NOTADB. */
export const isDamage = (error: unknown) => [11, 26].includes(codeOf(error) & 0xff);
