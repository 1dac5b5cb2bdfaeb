import { useEffect, useRef, useState } from 'preact/hooks';
import type { PortalVisit } from '#core/records/visit.ts';
import { portalPage } from './link-api.ts';

type PortalShare = PortalVisit['shares'][number];

/** The shares of a portal, as far as they have been loaded. */
export interface PortalShares {
  readonly shares: readonly PortalShare[];
  readonly total: number;
  /** Loading the next ones failed. */
  readonly failed: boolean;
  /** Loads the next ones, where there are more and none are on their way. */
  loadMore(): void;
}

/** Begins with the shares that came with the visit; a later visit begins anew. */
export function usePortalShares(visit: PortalVisit): PortalShares {
  const [later, setLater] = useState<readonly PortalShare[]>([]);
  const [failed, setFailed] = useState(false);
  const current = useRef(visit);
  const loading = useRef(false);
  useEffect(() => {
    current.current = visit;
    loading.current = false;
    setLater([]);
    setFailed(false);
  }, [visit]);
  const shares = [...visit.shares, ...later];
  function loadMore(): void {
    if (loading.current || shares.length >= visit.totalCount) return;
    loading.current = true;
    setFailed(false);
    portalPage(shares.length)
      .then(
        (page) => {
          if (current.current === visit) setLater((before) => [...before, ...page.shares]);
        },
        () => setFailed(true),
      )
      .finally(() => {
        loading.current = false;
      });
  }
  return { shares, total: visit.totalCount, failed, loadMore };
}
