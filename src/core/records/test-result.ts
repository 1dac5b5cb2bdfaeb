import Type, { type Static } from 'typebox';

/** One step of the test of a login profile or a location. */
const TestedStep = Type.Object({
  step: Type.String({ description: 'What was tested.' }),
  passed: Type.Boolean(),
  detail: Type.String({ description: 'What was found, or why the step has failed, without secrets. Empty: no further information.' }),
});
export type TestedStep = Static<typeof TestedStep>;

/** Returns the schema of the result of a test. @param names the steps, as a text */
export const testResult = (names: string) =>
  Type.Object({
    works: Type.Boolean({ description: 'Whether all steps have passed.' }),
    steps: Type.Array(TestedStep, { description: `The steps, up to the first one that fails: ${names}.` }),
  });
