import { Refusal } from '#core/messages.ts';
import { bodyOf } from '#core/records/field.ts';
import { locationFields } from '#core/records/location.ts';
import { type TestedStep, testResult } from '#core/records/test-result.ts';
import { waitAtMost } from '#core/time-limit.ts';
import { readOperation } from '#features/operation.ts';
import { openLocation } from '#features/storage-access/open-location.ts';
import type { TestStep } from '#ports/storage.ts';

const tokenBits = 96;
const stepTimeLimit = 10_000; // ms: other tests wait meanwhile

const failedStep = (step: string, cause: unknown): TestedStep => ({
  ...{ step, passed: false },
  detail: cause instanceof Error ? cause.message : 'failed',
});

/** Runs a step. Returns a failed step if it throws or takes too long. */
async function runStep({ step, run }: TestStep): Promise<TestedStep> {
  let detail = '';
  const running = run((text) => {
    detail = text;
  });
  try {
    const { late } = await waitAtMost(running, stepTimeLimit);
    return late ? failedStep(step, new Error('The storage did not respond in time.')) : { step, passed: true, detail };
  } catch (cause) {
    return failedStep(step, cause);
  }
}

/** Runs the steps up to the first one that fails. After a failure, still runs the step `remove`, which deletes the written file. */
async function runSteps(steps: readonly TestStep[]): Promise<TestedStep[]> {
  const results: TestedStep[] = [];
  for (const step of steps) {
    const result = await runStep(step);
    results.push(result);
    if (result.passed) continue;
    for (const rest of steps.slice(results.length)) if (rest.step === 'remove') await runStep(rest);
    break;
  }
  return results;
}

export const testLocation = readOperation({
  name: 'location/test',
  isTest: true,
  method: 'POST',
  role: 'admin',
  summary:
    'Tests a location step by step: whether it responds, accepts the credentials, and can be listed, written to and read. At the end, it tries to delete the test file.',
  body: bodyOf(locationFields, ['id'], []),
  response: testResult('connect, signIn, list, write, read, conditions, remove, as far as the kind of storage has them'),
  async read({ id }, caller, { store, storages, vault, random }) {
    const row = await store.read.selectFrom('location').selectAll().where('tid', '=', caller.tid).where('id', '=', id).executeTakeFirst();
    if (!row) throw new Refusal('recordUnknown');
    const steps = await openLocation(row, { storages, vault }).then(
      (storage) => runSteps(storage.testSteps(random.token(tokenBits))),
      (cause: unknown) => [failedStep('connect', cause)],
    );
    return { works: steps.every(({ passed }) => passed), steps };
  },
});
