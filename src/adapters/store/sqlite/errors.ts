const code = (error: unknown): number =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;

const uniqueCodes = [2067, 1555]; // SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY
const lostCodes = [10, 11, 26]; // SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB
const fullCode = 13; // SQLITE_FULL

export const isUniqueViolation = (error: unknown) => uniqueCodes.includes(code(error));

/** Can nothing more be believed of this file? Then the process must end without an answer (design: commit). */
export const isLost = (error: unknown) => lostCodes.includes(code(error) & 0xff);

export const isFull = (error: unknown) => (code(error) & 0xff) === fullCode;
