import { asProblem, type FieldError, type Problem, post } from '#console/api/call.ts';
import { runForEach } from '#console/components/bulk.ts';
import { maxUsersPerCall } from '#core/records/access-user.ts';
import { activeIn, fieldLabels, type ImportRow, importFields } from './import-columns.ts';
import { passwordError } from './user-password.ts';

/** A row that was refused or was added without its password, and the reason. */
export interface ReportedRow {
  readonly line: number;
  readonly name: string;
  readonly reason: string;
}

export interface ImportOutcome {
  readonly dryRun: boolean;
  readonly added: number;
  readonly reportedRows: readonly ReportedRow[];
  /** Why the import stopped early, such as a lost connection. null: it did not. */
  readonly failure: string | null;
}

const reportedRow = ({ line, cells }: ImportRow, reason: string): ReportedRow => ({ line, name: cells.username ?? '', reason });

/** Returns why a row cannot be sent, or null. @param lineOfSameName line of an earlier row with the same user name */
function rowError({ cells: { username = '', password = '', active } }: ImportRow, lineOfSameName: number | undefined): string | null {
  if (lineOfSameName !== undefined) return `The user name is the same as in line ${lineOfSameName}.`;
  if (activeIn(active) === null) return `Active must be true or false, not "${active}".`;
  const detail = password === '' ? null : passwordError(username, password);
  return detail && `The password ${detail}.`;
}

/** Returns the rows that repeat a user name, each with the line where the name occurs first. */
function repeatedNames(rows: readonly ImportRow[]): ReadonlyMap<ImportRow, number> {
  const lines = new Map<string, number>();
  const repeatedRows = new Map<ImportRow, number>();
  for (const row of rows) {
    const name = (row.cells.username ?? '').toLowerCase();
    const firstLine = lines.get(name);
    if (firstLine === undefined) lines.set(name, row.line);
    else if (name !== '') repeatedRows.set(row, firstLine);
  }
  return repeatedRows;
}

const userOf = ({ cells: { password: _, active, ...fields } }: ImportRow) => ({
  username: '',
  ...fields,
  active: activeIn(active) === true,
});

const labelOf = (name: string) => fieldLabels[importFields.find((field) => field === name) ?? 'username'];

/** Returns why rows were refused, by their index in the batch, from field errors such as `users.3.email`. */
function reasonsByRow(fieldErrors: readonly FieldError[]): ReadonlyMap<number, string> {
  const reasons = new Map<number, string>();
  for (const { field, detail } of fieldErrors) {
    const [, row, ...name] = field.split('.');
    const reason = `${labelOf(name.join('.'))} ${detail}.`;
    const before = reasons.get(Number(row));
    reasons.set(Number(row), before === undefined ? reason : `${before} ${reason}`);
  }
  return reasons;
}

/**
 * Adds a batch of rows. Sends the batch again without the rows that the server refuses.
 * @throws Problem if the batch fails for a reason that no row causes
 */
async function addBatch(
  batch: readonly ImportRow[],
  authId: number,
  dryRun: boolean,
): Promise<{ added: readonly ImportRow[]; refused: readonly ReportedRow[] }> {
  let remaining = batch;
  const refused: ReportedRow[] = [];
  while (remaining.length > 0) {
    try {
      await post('accessuser/addMany', { authId, users: remaining.map(userOf) }, { dryRun });
      return { added: remaining, refused };
    } catch (cause) {
      const problem = asProblem(cause);
      const reasons = reasonsByRow(problem.fieldErrors.filter(({ field }) => /^users\.\d+\./.test(field)));
      if (reasons.size === 0) throw problem;
      refused.push(...remaining.flatMap((row, at) => (reasons.has(at) ? [reportedRow(row, reasons.get(at) ?? '')] : [])));
      remaining = remaining.filter((_, at) => !reasons.has(at));
    }
  }
  return { added: [], refused };
}

const addedWithoutPassword = (row: ImportRow, problem: Problem) =>
  reportedRow(row, `Added without a password: ${problem.message} Set it on the user's page.`);

async function setPassword({ cells: { username = '', password = '' } }: ImportRow, authId: number): Promise<void> {
  await post('accessuser/updateUserPassword', { username, authId, userPassword: password, confirmPassword: password });
}

/** Sets the passwords of a batch. @returns the rows whose password could not be set */
async function setPasswords(rows: readonly ImportRow[], authId: number, progress: (done: number) => void): Promise<ReportedRow[]> {
  const withPassword = rows.filter(({ cells }) => (cells.password ?? '') !== '');
  const { failed } = await runForEach(withPassword, (row) => setPassword(row, authId), progress);
  return failed.map(({ record, problem }) => addedWithoutPassword(record, problem));
}

/**
 * Adds the users of a file, a thousand at a time, and sets their passwords. A refused row does not stop the others.
 * @param dryRun the server only checks the rows
 * @param progress called with the number of rows done, not counting those that were refused before they were sent
 */
export async function importUsers(
  rows: readonly ImportRow[],
  { authId, dryRun }: { readonly authId: number; readonly dryRun: boolean },
  progress: (done: number) => void,
): Promise<ImportOutcome> {
  const repeatedRows = repeatedNames(rows);
  const reportedRows: ReportedRow[] = [];
  const validRows: ImportRow[] = [];
  for (const row of rows) {
    const error = rowError(row, repeatedRows.get(row));
    if (error === null) validRows.push(row);
    else reportedRows.push(reportedRow(row, error));
  }
  let added = 0;
  let failure: string | null = null;
  try {
    for (let start = 0; start < validRows.length; start += maxUsersPerCall) {
      const batch = await addBatch(validRows.slice(start, start + maxUsersPerCall), authId, dryRun);
      added += batch.added.length;
      reportedRows.push(...batch.refused);
      if (!dryRun) reportedRows.push(...(await setPasswords(batch.added, authId, (done) => progress(start + done))));
      progress(Math.min(validRows.length, start + maxUsersPerCall));
    }
  } catch (cause) {
    failure = asProblem(cause).message;
  }
  return { dryRun, added, reportedRows: reportedRows.sort((a, b) => a.line - b.line), failure };
}
