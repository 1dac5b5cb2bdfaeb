import { useState } from 'preact/hooks';

/** How the entries of a folder are shown. */
export type Layout = 'list' | 'grid';

const storageKey = 'postern-layout';

/** Returns the layout that was chosen last in this browser. */
function storedLayout(): Layout {
  try {
    return window.localStorage.getItem(storageKey) === 'grid' ? 'grid' : 'list';
  } catch {
    return 'list'; // the browser keeps nothing
  }
}

/** Returns the layout of folders, and a function that changes it for this browser. */
export function useLayout(): readonly [Layout, (layout: Layout) => void] {
  const [layout, setLayout] = useState<Layout>(storedLayout);
  const change = (next: Layout) => {
    setLayout(next);
    try {
      window.localStorage.setItem(storageKey, next);
    } catch {
      // the browser keeps nothing: the choice lasts until the page is closed
    }
  };
  return [layout, change];
}
