import { stringify } from 'csv-stringify/browser/esm/sync';
import type { AccessUser } from '#core/records/access-user.ts';
import { importFields } from './import-columns.ts';

const columns = importFields.filter((field) => field !== 'password');

/** Returns users as CSV, without passwords. Cells that a spreadsheet would run as a formula are escaped (OWASP, CSV injection). */
export function writeCsv(users: readonly Pick<AccessUser, (typeof columns)[number]>[]): string {
  return stringify([...users], {
    header: true,
    columns,
    cast: { boolean: String },
    escape_formulas: true,
    quoted_match: /;/,
    record_delimiter: '\r\n',
    eof: false,
  });
}
