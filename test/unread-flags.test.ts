import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { shareFields } from '#core/records/share.ts';

const root = join(import.meta.dirname, '..', 'src');
const textsOf = (patterns: readonly string[]) =>
  globSync(patterns, { cwd: root })
    .filter((file) => !file.includes('.test.'))
    .map((file) => readFileSync(join(root, file), 'utf8'));
/** The code that authorizes and serves visits. */
const visitTexts = textsOf(['core/authorization/**/*.ts', 'features/visits/**/*.ts', 'http/visitor/**/*.ts']);
/** The code that reads the link of a visit. */
const linkTexts = textsOf(['features/links/*.ts']);

/** Flags without a column, because Postern computes them for the response. */
const computedFlags = ['enableAuthview'];
/** Flags that have no effect yet. */
const flagsWithoutEffect: readonly string[] = [];

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns whether the code of visits reads a flag: either its column, or the field that the code of links reads from the column. */
function isRead(field: string): boolean {
  const column = new RegExp(`\\.${columnOf(field)}\\b`);
  if (visitTexts.some((text) => column.test(text))) return true;
  const ruleOfShare = new RegExp(`[.{,]\\s*(?:share\\.)?${field}\\b`);
  return linkTexts.some((text) => column.test(text)) && visitTexts.some((text) => ruleOfShare.test(text));
}

test('the code of visits reads every flag of a share that is not computed', () => {
  const flags = Object.entries(shareFields).flatMap(([name, schema]) => ('type' in schema && schema.type === 'boolean' ? [name] : []));
  assert.ok(flags.length > 15, 'the flags are found');
  const unreadFlags = flags.filter((flag) => !computedFlags.includes(flag) && !isRead(flag));
  assert.deepEqual(unreadFlags, flagsWithoutEffect);
});
