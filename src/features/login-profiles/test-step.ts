import type { TestedStep } from '#core/records/test-result.ts';

/** Returns the result of a step. @param problem null: it has passed @param detail what was found */
export const step = (name: string, problem: string | null, detail = ''): TestedStep => ({
  step: name,
  passed: problem === null,
  detail: problem ?? detail,
});
