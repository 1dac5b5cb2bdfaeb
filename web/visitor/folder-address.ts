import { useEffect, useState } from 'preact/hooks';

/** Where one is in a share: a folder, or a file that is looked at. */
export interface Place {
  readonly looking: boolean;
  readonly path: readonly string[];
}

/** What the address names behind its #, so that one can go back to it and pass it on. */
function placeInAddress(): Place {
  const { hash } = window.location;
  const looking = hash.startsWith('#look/');
  try {
    const path = hash
      .replace(/^#(look)?\/?/, '')
      .split('/')
      .filter(Boolean)
      .map(decodeURIComponent);
    return { looking: looking && path.length > 0, path };
  } catch {
    return { looking: false, path: [] };
  }
}

const encoded = (path: readonly string[]) => path.map(encodeURIComponent).join('/');
/** The address of a folder of the share, behind the #. */
export const addressOfFolder = (path: readonly string[]) => `#/${encoded(path)}`;
/** The address of a look at a file. */
export const addressOfLook = (path: readonly string[]) => `#look/${encoded(path)}`;

/** Where one is now. */
export function usePlace(): Place {
  const [place, setPlace] = useState(placeInAddress);
  useEffect(() => {
    const follow = () => setPlace(placeInAddress());
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return place;
}
