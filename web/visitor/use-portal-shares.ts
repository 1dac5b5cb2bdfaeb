import { useEffect, useRef, useState } from 'preact/hooks';
import { maxPortalPageSize } from '#core/portal-page-size.ts';
import type { PortalVisit } from '#core/records/visit.ts';
import { fetchPortalPage } from './link-api.ts';

type PortalShare = PortalVisit['shares'][number];

/** The shares of a portal, as far as they are loaded. */
export interface PortalShares {
  readonly shares: readonly PortalShare[];
  readonly total: number;
  readonly hasMore: boolean;
  /** Whether the last request for more shares failed. */
  readonly failed: boolean;
  /** Loads the next shares. Does nothing when all are loaded or a request is running. */
  loadMore(): void;
}

/** The pages after the first one, which is part of the visit. */
interface LaterPages {
  readonly shares: readonly PortalShare[];
  /** Index at which the next page begins. The server may leave out shares of a page, so this is not the number of loaded shares. */
  readonly next: number;
  readonly total: number;
}

/** Loads the pages of a portal after the first one, which is part of the visit. After a new visit, it starts again. */
export function usePortalShares(visit: PortalVisit): PortalShares {
  const noPages: LaterPages = { shares: [], next: maxPortalPageSize, total: visit.totalCount };
  const [laterPages, setLaterPages] = useState(noPages);
  const [failed, setFailed] = useState(false);
  const currentVisit = useRef(visit);
  const isLoading = useRef(false);
  useEffect(() => {
    currentVisit.current = visit;
    isLoading.current = false;
    setLaterPages(noPages);
    setFailed(false);
  }, [visit]);
  const { shares, next, total } = laterPages;
  const hasMore = next < total;
  function loadMore(): void {
    if (isLoading.current || !hasMore) return;
    isLoading.current = true;
    setFailed(false);
    const isCurrent = () => currentVisit.current === visit;
    fetchPortalPage(next)
      .then(
        (page) =>
          isCurrent() && setLaterPages({ shares: [...shares, ...page.shares], next: next + maxPortalPageSize, total: page.totalCount }),
        () => isCurrent() && setFailed(true),
      )
      .finally(() => {
        if (isCurrent()) isLoading.current = false;
      });
  }
  return { shares: [...visit.shares, ...shares], total, hasMore, failed, loadMore };
}
