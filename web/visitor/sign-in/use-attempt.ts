import { useState } from 'preact/hooks';
import { useCountdown } from '#visitor/failure-card.tsx';
import { asFailure, type Failure } from '#visitor/link-api.ts';

/** The codes of failures that a sign-in form shows: another attempt may succeed. */
const formFailures: readonly string[] = ['signInWrong', 'fieldInvalid', 'tooManyFailures', 'signInBusy', 'offline'];

/** Runs the requests of a form one at a time. Returns the failure of the last one, unless `onFailure` has got it. */
export function useAttempt(onFailure: ((cause: unknown) => void) | undefined) {
  const [problem, setProblem] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const secondsLeft = useCountdown(problem);
  /** Sends a request, unless another one runs or the server has asked to wait. */
  async function attempt(send: () => Promise<void>): Promise<void> {
    if (busy || secondsLeft > 0) return;
    setBusy(true);
    setProblem(null);
    try {
      await send();
    } catch (cause) {
      const failure = asFailure(cause);
      if (onFailure && !formFailures.includes(failure.code)) onFailure(failure);
      else setProblem(failure);
    } finally {
      setBusy(false);
    }
  }
  return { problem, busy, secondsLeft, attempt };
}
