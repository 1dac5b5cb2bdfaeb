import type { CsvTable } from './read-csv.ts';

/** The fields that a column can contain, in the order of an export. */
export const importFields = ['username', 'firstName', 'lastName', 'email', 'active', 'password'] as const;
export type ImportField = (typeof importFields)[number];

export const fieldLabels: Readonly<Record<ImportField, string>> = {
  username: 'User name',
  firstName: 'First name',
  lastName: 'Last name',
  email: 'E-mail',
  active: 'Active',
  password: 'Password',
};

/** Headings that other systems export, in the form that `normalize` returns: lower case, without accents, spaces and punctuation. */
const aliases: Readonly<Record<ImportField, readonly string[]>> = {
  username: ['username', 'user', 'login', 'loginname', 'userid', 'account', 'samaccountname', 'benutzername', 'benutzer', 'identifiant'],
  firstName: ['firstname', 'givenname', 'first', 'vorname', 'prenom', 'nombre', 'nome'],
  lastName: ['lastname', 'surname', 'familyname', 'last', 'sn', 'nachname', 'nom', 'apellido', 'apellidos', 'cognome'],
  email: ['email', 'mail', 'emailaddress', 'primarysmtpaddress', 'emailadresse', 'courriel', 'correo'],
  active: ['active', 'enabled', 'accountenabled', 'aktiv', 'actif', 'activo', 'attivo'],
  password: ['password', 'passwort', 'kennwort', 'motdepasse', 'contrasena'],
};

const normalize = (heading: string) =>
  heading
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

/** The field of each column. null: the column is not imported. */
export type ColumnMapping = readonly (ImportField | null)[];

/** Returns the field that each heading names. If two columns name the same field, the first one gets it. */
export function guessMapping(headings: readonly string[]): ColumnMapping {
  const used = new Set<ImportField>();
  return headings.map((heading) => {
    const field = importFields.find((one) => aliases[one].includes(normalize(heading)));
    if (!field || used.has(field)) return null;
    used.add(field);
    return field;
  });
}

/** Returns the mapping with one column changed. If another column had the field, that column is no longer imported. */
export const withColumn = (mapping: ColumnMapping, column: number, field: ImportField | null): ColumnMapping =>
  mapping.map((before, index) => (index === column ? field : before === field ? null : before));

/** One row of a file: the number of the line on which it ends, and its cells by field. */
export interface ImportRow {
  readonly line: number;
  readonly cells: Readonly<Partial<Record<ImportField, string>>>;
}

export const rowsOf = ({ records }: CsvTable, mapping: ColumnMapping): ImportRow[] =>
  records.map(({ line, cells }) => ({
    line,
    cells: Object.fromEntries(mapping.flatMap((field, column) => (field ? [[field, cells[column] ?? '']] : []))),
  }));

const yes = ['', 'true', 'yes', '1', 'active', 'enabled', 'wahr', 'ja', 'vrai', 'oui', 'vero', 'sì', 'verdadero', 'sí', 'si'];
const no = ['false', 'no', '0', 'inactive', 'disabled', 'falsch', 'nein', 'faux', 'non', 'falso'];

/** Returns whether a cell says that the user can sign in. An empty cell means true. null: the text is not recognized. */
export function activeIn(text: string | undefined): boolean | null {
  const word = (text ?? '').trim().toLowerCase();
  if (yes.includes(word)) return true;
  return no.includes(word) ? false : null;
}
