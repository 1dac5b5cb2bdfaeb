import { useEffect, useState } from 'preact/hooks';
import { asFailure, base, check, type Failure } from '#visitor/link-api.ts';
import { useRefused } from '#visitor/refused.ts';

/** What is cheaply asked in the place of a download: a file without its bytes, of an archive the folder it is of. */
function beside({ href, pathname }: HTMLAnchorElement): Promise<void> {
  const zip = `${base}/zip`;
  return pathname.startsWith(zip) ? check('GET', `${base}/list${pathname.slice(zip.length)}?pageSize=1`) : check('HEAD', href);
}

/**
 * A browser says little of a download that is refused: each that is begun is asked about beside it.
 * @returns why the last one was refused; null: it was not
 */
export function useDownloadCheck(): Failure | null {
  const [failure, setFailure] = useState<Failure | null>(null);
  const refused = useRefused();
  useEffect(() => {
    const begun = ({ target }: MouseEvent) => {
      const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[download][href^="/"]') : null;
      if (!link) return;
      beside(link).then(
        () => setFailure(null),
        (cause) => {
          setFailure(asFailure(cause));
          refused(cause);
        },
      );
    };
    document.addEventListener('click', begun);
    return () => document.removeEventListener('click', begun);
  }, []);
  return failure;
}
