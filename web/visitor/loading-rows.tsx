import { useEffect, useState } from 'preact/hooks';
import { useTranslation } from './translations/use-translation.ts';

const displayDelay = 200; // ms: for a shorter wait, no placeholder is shown

/** Grey rows as a placeholder for content that is loading. */
export function LoadingRows() {
  const { translate } = useTranslation();
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), displayDelay);
    return () => clearTimeout(timer);
  }, []);
  if (!isVisible) return null;
  return (
    <div class="column skeleton" role="status" aria-label={translate('loading')}>
      {[1, 2, 3, 4, 5].map((row) => (
        <div key={row} />
      ))}
    </div>
  );
}
