import { useEffect, useState } from 'preact/hooks';
import { useSpeech } from './translations/use-translation.ts';

const patience = 200; // ms: what comes sooner needs no sign of waiting

/** Grey rows in the place of what is still on its way. */
export function Waiting() {
  const { say } = useSpeech();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), patience);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return null;
  return (
    <div class="column skeleton" role="status" aria-label={say('loading')}>
      {[1, 2, 3, 4, 5].map((row) => (
        <div key={row} />
      ))}
    </div>
  );
}
