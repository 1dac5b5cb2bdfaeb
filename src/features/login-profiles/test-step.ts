import type { TestedStep } from '#core/records/test-result.ts';

/** Returns the result of one step of a test of a login profile. @param problem null: the step has passed @param detail used only then */
export const step = (name: string, problem: string | null, detail = ''): TestedStep => ({
  step: name,
  passed: problem === null,
  detail: problem ?? detail,
});
