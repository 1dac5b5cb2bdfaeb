import { useEffect, useState } from 'preact/hooks';

/** Matches a device that is used by touch. */
export const touchQuery = '(pointer: coarse)';

/** Returns whether a media query matches, and follows its changes. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const media = window.matchMedia(query);
    const update = () => setMatches(media.matches);
    update();
    media.addEventListener('change', update);
    return () => media.removeEventListener('change', update);
  }, [query]);
  return matches;
}
