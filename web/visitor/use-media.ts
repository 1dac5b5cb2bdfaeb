import { useEffect, useState } from 'preact/hooks';

/** Whether what points is a finger. */
export const byTouch = '(pointer: coarse)';

/** Follows a media query. */
export function useMedia(query: string): boolean {
  const [fits, setFits] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const media = window.matchMedia(query);
    const follow = () => setFits(media.matches);
    follow();
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, [query]);
  return fits;
}
