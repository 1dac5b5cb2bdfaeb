import { useEffect, useState } from 'preact/hooks';
import { asFailure, checkAddress, Failure, fetchVisit, linkPath } from '#visitor/link-api.ts';
import { offeredPermissions } from '#visitor/offered-permissions.ts';
import { useReportFailure } from '#visitor/report-failure.ts';

/**
 * Sends cheap requests that usually fail when the download fails: HEAD for a file; the visit and the folder's listing for
 * an archive. HEAD for an archive is expensive: the server reads all folders for it.
 */
async function checkDownload({ href, pathname }: HTMLAnchorElement): Promise<void> {
  const zipPath = `${linkPath}/zip`;
  if (!pathname.startsWith(zipPath)) return checkAddress('HEAD', href);
  const visit = await fetchVisit();
  if ('share' in visit && visit.share && !offeredPermissions(visit.share).downloadFolder) throw new Failure(403, 'permissionOff', '', null);
  return checkAddress('GET', `${linkPath}/list${pathname.slice(zipPath.length)}?pageSize=1`);
}

/**
 * Checks every download that a link of the page starts, because a browser does not tell the page why a download failed.
 * @returns why the check of the last download failed, or null
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
