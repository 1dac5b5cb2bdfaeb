import type { Failure } from '#visitor/link-api.ts';
import { describeFailure } from '#visitor/translations/sentences.ts';
import { type Translation, useTranslation } from '#visitor/translations/use-translation.ts';

/** Returns why a request of a sign-in form failed. @param wrong text for values that are not accepted */
function problemText(failure: Failure, wrong: string, translation: Translation): string {
  if (failure.code === 'signInWrong' || failure.code === 'fieldInvalid') return wrong;
  return failure.code === 'signInBusy' ? translation.translate('signInBusy') : describeFailure(failure, translation).title;
}

/** Says why the last request of a sign-in form failed, and how long the visitor must wait. */
export function AttemptProblem({ problem, wrong, secondsLeft }: { problem: Failure | null; wrong: string; secondsLeft: number }) {
  const translation = useTranslation();
  return (
    <>
      <p class="problem" role="alert">
        {problem && problemText(problem, wrong, translation)}
      </p>
      {secondsLeft > 0 && <p class="problem">{translation.translate('waitSeconds', { count: secondsLeft })}</p>}
    </>
  );
}
