import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Restores the scroll position of a folder that was shown before. @param isLoaded whether the list is there and can be scrolled */
export function useScrollPosition(folder: string, isLoaded: boolean): void {
  const positions = useRef(new Map<string, number>());
  const shownFolder = useRef(folder);
  // Saved during the rendering: afterwards, the changed page can have another scroll position.
  if (shownFolder.current !== folder) positions.current.set(shownFolder.current, window.scrollY);
  shownFolder.current = folder;
  useEffect(() => {
    window.history.scrollRestoration = 'manual'; // the browser would scroll before the position is saved
    return () => {
      window.history.scrollRestoration = 'auto';
    };
  }, []);
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
