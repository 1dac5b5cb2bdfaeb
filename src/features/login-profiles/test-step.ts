/** The result of one step of a test. */
export interface Step {
  readonly what: string;
  readonly works: boolean;
  /** What was found, without secrets. */
  readonly detail: string;
}

/** Returns a step. @param problem null: it works @param detail what was found */
export const step = (what: string, problem: string | null, detail = ''): Step => ({
  what,
  works: problem === null,
  detail: problem ?? detail,
});
