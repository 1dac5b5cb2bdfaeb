import { useEffect, useState } from 'preact/hooks';
import { asFailure, checkAddress, type Failure, linkPath } from '#visitor/link-api.ts';
import { useReportFailure } from '#visitor/report-failure.ts';

/** Sends a cheap request that fails for most reasons for which the download fails: HEAD for a file, the folder's listing for an archive. */
function checkDownload({ href, pathname }: HTMLAnchorElement): Promise<void> {
  const zipPath = `${linkPath}/zip`;
  return pathname.startsWith(zipPath)
    ? checkAddress('GET', `${linkPath}/list${pathname.slice(zipPath.length)}?pageSize=1`)
    : checkAddress('HEAD', href);
}

/**
 * Checks every download that a link of the page starts, because a browser does not tell the page why a download failed.
 * @returns why the last download was refused, or null
 */
export function useDownloadCheck(): Failure | null {
  const [failure, setFailure] = useState<Failure | null>(null);
  const reportFailure = useReportFailure();
  useEffect(() => {
    const onClick = ({ target }: MouseEvent) => {
      const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[download][href^="/"]') : null;
      if (!link) return;
      checkDownload(link).then(
        () => setFailure(null),
        (cause) => {
          setFailure(asFailure(cause));
          reportFailure(cause);
        },
      );
    };
    document.addEventListener('click', onClick);
    return () => document.removeEventListener('click', onClick);
  }, []);
  return failure;
}
