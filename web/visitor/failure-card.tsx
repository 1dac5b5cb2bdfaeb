import { useEffect, useState } from 'preact/hooks';
import type { Failure } from './link-api.ts';
import { failureWords } from './translations/sentences.ts';
import { useSpeech } from './translations/use-translation.ts';

/** Seconds that a failure says to wait, counted down; another failure begins anew. */
export function useCountdown(failure: Failure | null): number {
  const [left, setLeft] = useState(failure?.retryAfter ?? 0);
  useEffect(() => setLeft(failure?.retryAfter ?? 0), [failure]);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return left;
}

interface Properties {
  readonly failure: Failure;
  readonly again: () => void;
  readonly leave: (() => void) | null;
  /** In the place of the list: the page around it stays. */
  readonly within?: boolean;
}

/** What happened in plain words, and what to do. */
export function FailureCard({ failure, again, leave, within = false }: Properties) {
  const speech = useSpeech();
  const { say } = speech;
  const { title, advice } = failureWords(failure, speech);
  const left = useCountdown(failure);
  useEffect(() => {
    if (!within) document.title = title;
  }, [title]);
  const final = failure.status === 404 || failure.status === 410;
  const Box = within ? 'section' : 'main';
  const Heading = within ? 'h2' : 'h1';
  return (
    <Box class="card">
      <Heading>{title}</Heading>
      <p class="quiet">{advice}</p>
      {!final && (
        <button type="button" class="button primary" disabled={left > 0} onClick={again}>
          {left > 0 ? say('tryAgainIn', { count: left }) : say('tryAgain')}
        </button>
      )}
      {leave && (
        <button type="button" class="button" onClick={leave}>
          {say('somebodyElse')}
        </button>
      )}
    </Box>
  );
}

/** What happened while something is shown already: that stays, and may be old. */
export function FailureBar({ failure, again }: { failure: Failure; again: (() => void) | null }) {
  const speech = useSpeech();
  return (
    <div class="notice failure-bar" role="alert">
      <span>{failureWords(failure, speech).title}</span>
      {again && (
        <button type="button" class="button" onClick={again}>
          {speech.say('tryAgain')}
        </button>
      )}
    </div>
  );
}
