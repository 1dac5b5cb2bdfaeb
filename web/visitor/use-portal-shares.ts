import { useEffect, useRef, useState } from 'preact/hooks';
import type { PortalVisit } from '#core/records/visit.ts';
import { fetchPortalPage } from './link-api.ts';

type PortalShare = PortalVisit['shares'][number];

/** The shares of a portal, as far as they are loaded. */
export interface PortalShares {
  readonly shares: readonly PortalShare[];
  readonly total: number;
  /** Whether the last request for more shares failed. */
  readonly failed: boolean;
  /** Loads the next shares. Does nothing when all are loaded or a request is running. */
  loadMore(): void;
}

/** Loads the shares of a portal page by page, after those that are part of the visit. A new visit starts again. */
export function usePortalShares(visit: PortalVisit): PortalShares {
  const [moreShares, setMoreShares] = useState<readonly PortalShare[]>([]);
  const [failed, setFailed] = useState(false);
  const currentVisit = useRef(visit);
  const isLoading = useRef(false);
  useEffect(() => {
    currentVisit.current = visit;
    isLoading.current = false;
    setMoreShares([]);
    setFailed(false);
  }, [visit]);
  const shares = [...visit.shares, ...moreShares];
  function loadMore(): void {
    if (isLoading.current || shares.length >= visit.totalCount) return;
    isLoading.current = true;
    setFailed(false);
    const isCurrent = () => currentVisit.current === visit;
    fetchPortalPage(shares.length)
      .then(
        (page) => isCurrent() && setMoreShares((before) => [...before, ...page.shares]),
        () => isCurrent() && setFailed(true),
      )
      .finally(() => {
        if (isCurrent()) isLoading.current = false;
      });
  }
  return { shares, total: visit.totalCount, failed, loadMore };
}
