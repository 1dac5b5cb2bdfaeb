import { useEffect, useState } from 'preact/hooks';

/** What the page shows of a share: a folder, or the preview of a file. */
export interface PageAddress {
  readonly isPreview: boolean;
  readonly path: readonly string[];
}

/** Reads the folder or the file from the address, after the `#`. The back button and copied addresses lead to it. */
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
/** Returns the address of a folder of the share, from the `#` on. */
export const folderAddress = (path: readonly string[]) => `#/${encodePath(path)}`;
/** Returns the address of the preview of a file, from the `#` on. */
export const previewAddress = (path: readonly string[]) => `#preview/${encodePath(path)}`;

/** Returns what the address of the page shows, also after each change of the address. */
export function usePageAddress(): PageAddress {
  const [address, setAddress] = useState(parsePageAddress);
  useEffect(() => {
    const update = () => setAddress(parsePageAddress());
    window.addEventListener('hashchange', update);
    return () => window.removeEventListener('hashchange', update);
  }, []);
  return address;
}
