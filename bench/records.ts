export interface ShareRecord {
  readonly tid: number;
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly viewId: string;
}

/** Returns a function that returns random numbers from 0 to less than 1, the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const kinds = ['Report', 'Report', 'Report', 'Report', 'Invoice', 'Contract', 'Timesheet', 'Drawing', 'Offer', 'Minutes'];
const subjects = [
  'Quality',
  'Delivery',
  'Purchase',
  'Safety',
  'Audit',
  'Payroll',
  'Marketing',
  'Logistics',
  'Research',
  'Договор',
  '契約書',
  'Prüfung',
];
export const firstNames = ['Anna', 'Bernd', 'Chidi', 'Dmitri', 'Eiko', 'Fatima', 'Georg', 'Hanna', 'Ivan', 'Júlia'];
export const lastNames = [
  'Dorn',
  'Schmidt',
  'Okafor',
  'Nakamura',
  'Ivanov',
  'Silva',
  'Keller',
  'Rossi',
  'Haddad',
  'Berg',
  'Lindqvist',
  'Moreau',
];
const endings = ['pdf', 'docx', 'xlsx', 'dwg', 'zip', 'txt', 'csv', 'png', 'tiff', 'eml'];
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Search words in groups: by the number of records that contain them, or by their form. */
export const searchWords = {
  absent: ['zzzzqq', 'does not occur', 'xyzzy'],
  rare: ['müller straße', '-1234', 'office müller'],
  'several words': ['contract quality', 'invoice safety', 'report audit dorn'],
  common: ['report', 'office', 'department', 'clients', 'invoice'],
  'fairly common': ['timesheet', 'drawing', 'payroll', 'schmidt'],
  'an ending': ['.pdf', '.docx', '.csv'],
  'three characters': ['202', 'rep', '-10'],
  'two letters': ['eu', 'us', 'qu', 'ke', 'xy'],
  'one letter': ['q', 'z', '7'],
  'not Latin': ['договор', '契約', '書', 'prüf'],
} as const;

/**
 * Yields shares, the same ones for the same arguments. Half of them belong to tenant 1.
 * @param others ids of the tenants of the other half
 */
export function* records(total: number, others: readonly number[]): Generator<ShareRecord> {
  const random = seededRandom(total);
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  for (let number = 0; number < total; number += 1) {
    const [kind, subject, name] = [pick(kinds), pick(subjects), pick(lastNames)];
    const year = 2015 + Math.floor(random() * 12);
    const rare = random() < 0.00007 ? ' Müller Straße 7' : '';
    let viewId = '';
    for (let index = 0; index < 22; index += 1) viewId += letters[Math.floor(random() * 64)];
    yield {
      tid: number % 2 === 0 ? 1 : pick(others),
      title: `${kind} ${subject} ${name} ${year}-${number}`,
      description: `For the ${subject.toLowerCase()} department, checked by ${pick(lastNames)} in the ${pick(['EU', 'US', 'APAC'])} office${rare}`,
      path: `/clients/${name.toLowerCase()}/${year}/${subject.toLowerCase()}/${kind.toLowerCase()}-${number}.${pick(endings)}`,
      viewId,
    };
  }
}
