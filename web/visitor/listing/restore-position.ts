import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Restores the scroll position of a folder that was shown before. @param isLoaded whether the list is there and can be scrolled */
export function useScrollPosition(folder: string, isLoaded: boolean): void {
  const positions = useRef(new Map<string, number>());
  useEffect(() => {
    const save = () => void positions.current.set(folder, window.scrollY); // before the next folder is rendered
    window.addEventListener('hashchange', save);
    return () => window.removeEventListener('hashchange', save);
  }, [folder]);
  useLayoutEffect(() => {
    if (isLoaded) window.scrollTo(0, positions.current.get(folder) ?? 0);
  }, [folder, isLoaded]);
}

const focusMain = () => document.querySelector('main')?.focus({ preventScroll: true });

/**
 * Moves the keyboard focus to the main part of the page: when a row or a breadcrumb has opened another folder, and when a change has
 * removed the focused element.
 */
export function useFocusPosition(folder: string, changes: number, loading: boolean): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current && document.activeElement?.closest('.rows, .crumbs')) focusMain();
    isFirst.current = false;
  }, [folder]);
  useEffect(() => {
    if (changes > 0 && !loading && document.activeElement === document.body) focusMain();
  }, [changes, loading]);
}
