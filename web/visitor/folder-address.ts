import { useEffect, useState } from 'preact/hooks';

/** The folder that the address names behind its #, so that one can go back to it and pass it on. */
function pathInAddress(): string[] {
  try {
    return window.location.hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return [];
  }
}

/** The address of a folder of the share, behind the #. */
export const addressOfFolder = (path: readonly string[]) => `#/${path.map(encodeURIComponent).join('/')}`;

/** The folder that is looked at. */
export function usePath(): readonly string[] {
  const [path, setPath] = useState(pathInAddress);
  useEffect(() => {
    const follow = () => setPath(pathInAddress());
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return path;
}
