import { useEffect, useState } from 'preact/hooks';
import type { Failure } from './link-api.ts';
import { failureWords } from './words.ts';

/** Seconds until a moment, counted down. */
export function useCountdown(seconds: number | null): number {
  const [left, setLeft] = useState(seconds ?? 0);
  useEffect(() => setLeft(seconds ?? 0), [seconds]);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return left;
}

/** What happened in plain words, and what to do. */
export function FailureCard({ failure, again, leave }: { failure: Failure; again: () => void; leave: (() => void) | null }) {
  const { title, advice } = failureWords(failure);
  const left = useCountdown(failure.retryAfter);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const final = failure.status === 404 || failure.status === 410;
  return (
    <main class="card">
      <h1>{title}</h1>
      <p class="quiet">{advice}</p>
      {!final && (
        <button type="button" class="button primary" disabled={left > 0} onClick={again}>
          {left > 0 ? `Try again in ${left} s` : 'Try again'}
        </button>
      )}
      {leave && (
        <button type="button" class="button" onClick={leave}>
          Sign in as somebody else
        </button>
      )}
    </main>
  );
}
