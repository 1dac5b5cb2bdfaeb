import { useLayoutEffect, useState } from 'preact/hooks';

/** What the page shows of a share: a folder, or the preview of a file. */
export interface PageAddress {
  readonly isPreview: boolean;
  readonly path: readonly string[];
}

/** Reads the folder or the file from the fragment of the URL, so that the back button and copied URLs lead to it. */
function parsePageAddress(): PageAddress {
  const { hash } = window.location;
  const isPreview = hash.startsWith('#preview/');
  try {
    const path = hash
      .replace(/^#(preview)?\/?/, '')
      .split('/')
      .filter(Boolean)
      .map(decodeURIComponent);
    return { isPreview: isPreview && path.length > 0, path };
  } catch {
    return { isPreview: false, path: [] };
  }
}

const encodePath = (path: readonly string[]) => path.map(encodeURIComponent).join('/');
/** Returns the address of a folder of the share, as a fragment: `#/reports`. */
export const folderAddress = (path: readonly string[]) => `#/${encodePath(path)}`;
/** Returns the address of the preview of a file, as a fragment: `#preview/reports/a.pdf`. */
export const previewAddress = (path: readonly string[]) => `#preview/${encodePath(path)}`;

/** Returns the folder or preview that the address of the page names, and follows changes of the address. */
export function usePageAddress(): PageAddress {
  const [address, setAddress] = useState(parsePageAddress);
  // A layout effect runs before any event can be dispatched, so no change of the address after the first render is missed.
  useLayoutEffect(() => {
    const update = () => setAddress(parsePageAddress());
    window.addEventListener('hashchange', update);
    return () => window.removeEventListener('hashchange', update);
  }, []);
  return address;
}
