import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Whoever comes back to a folder finds it scrolled as they left it. @param isKnown there is something to be scrolled */
export function useScrollPosition(folder: string, isKnown: boolean): void {
  const kept = useRef(new Map<string, number>());
  useEffect(() => {
    const keep = () => void kept.current.set(folder, window.scrollY); // before the next folder is drawn
    window.addEventListener('hashchange', keep);
    return () => window.removeEventListener('hashchange', keep);
  }, [folder]);
  useLayoutEffect(() => {
    if (isKnown) window.scrollTo(0, kept.current.get(folder) ?? 0);
  }, [folder, isKnown]);
}

const toMain = () => document.querySelector('main')?.focus({ preventScroll: true });

/** The keyboard goes on in the list where what it was on is gone: after a step into a folder, and after a change. */
export function useFocusPosition(folder: string, changes: number, loading: boolean): void {
  const first = useRef(true);
  useEffect(() => {
    if (!first.current && document.activeElement?.closest('.rows, .crumbs')) toMain();
    first.current = false;
  }, [folder]);
  useEffect(() => {
    if (changes > 0 && !loading && document.activeElement === document.body) toMain();
  }, [changes, loading]);
}
