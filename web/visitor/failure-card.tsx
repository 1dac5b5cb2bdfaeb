import { useEffect, useState } from 'preact/hooks';
import type { Failure } from './link-api.ts';
import { describeFailure } from './translations/sentences.ts';
import { useTranslation } from './translations/use-translation.ts';

/** Counts down the seconds to wait after a failure. Another failure starts the countdown again. */
export function useCountdown(failure: Failure | null): number {
  const [secondsLeft, setSecondsLeft] = useState(failure?.retryAfter ?? 0);
  useEffect(() => setSecondsLeft(failure?.retryAfter ?? 0), [failure]);
  useEffect(() => {
    if (secondsLeft <= 0) return;
    const timer = setTimeout(() => setSecondsLeft(secondsLeft - 1), 1000);
    return () => clearTimeout(timer);
  }, [secondsLeft]);
  return secondsLeft;
}

interface Properties {
  readonly failure: Failure;
  readonly retry: () => void;
  readonly onSignOut: (() => void) | null;
  /** Whether the card is part of a page. Otherwise the card is the entire content of the page. */
  readonly embedded?: boolean;
}

/** A card that says what happened and what to do next. */
export function FailureCard({ failure, retry, onSignOut, embedded = false }: Properties) {
  const translation = useTranslation();
  const { translate } = translation;
  const { title, advice } = describeFailure(failure, translation);
  const secondsLeft = useCountdown(failure);
  useEffect(() => {
    if (!embedded) document.title = title;
  }, [title]);
  const isFinal = failure.status === 404 || failure.status === 410;
  const Box = embedded ? 'section' : 'main';
  const Heading = embedded ? 'h2' : 'h1';
  return (
    <Box class="card">
      <Heading>{title}</Heading>
      <p class="muted">{advice}</p>
      {!isFinal && (
        <button type="button" class="button primary" disabled={secondsLeft > 0} onClick={retry}>
          {secondsLeft > 0 ? translate('tryAgainIn', { count: secondsLeft }) : translate('tryAgain')}
        </button>
      )}
      {onSignOut && (
        <button type="button" class="button" onClick={onSignOut}>
          {translate('signInAsSomeoneElse')}
        </button>
      )}
    </Box>
  );
}

/** A bar that reports a failure above the content of the page, which stays visible. */
export function FailureBar({ failure, retry }: { failure: Failure; retry: (() => void) | null }) {
  const translation = useTranslation();
  return (
    <div class="notice failure-bar" role="alert">
      <span>{describeFailure(failure, translation).title}</span>
      {retry && (
        <button type="button" class="button" onClick={retry}>
          {translation.translate('tryAgain')}
        </button>
      )}
    </div>
  );
}
