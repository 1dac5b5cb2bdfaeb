import { useEffect, useRef } from 'preact/hooks';
import type { PortalVisit } from '#core/records/visit.ts';
import { visibleName } from '#core/translations/visible-name.ts';
import { Icon } from '#kit/icons.tsx';
import { PageFoot } from './page-foot.tsx';
import { PageHead } from './page-head.tsx';
import { rememberPortal } from './portal-link.ts';
import { untilText } from './translations/sentences.ts';
import { useTranslation } from './translations/use-translation.ts';
import { usePortalShares } from './use-portal-shares.ts';

/** The row below the loaded shares. The next shares are loaded when it becomes visible. */
function MoreShares({ failed, loadMore }: { failed: boolean; loadMore: () => void }) {
  const { translate } = useTranslation();
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!row.current || failed) return;
    const observer = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && loadMore());
    observer.observe(row.current);
    return () => observer.disconnect();
  }); // at every rendering, because each one has its own `loadMore`
  return (
    <li class="row" ref={row}>
      {failed ? (
        <button type="button" onClick={loadMore}>
          {translate('tryAgain')}
        </button>
      ) : (
        <span class="muted">{translate('loading')}</span>
      )}
    </li>
  );
}

/** Lists the shares that the signed-in visitor can open. */
export function PortalPage({ visit, onSignOut }: { visit: PortalVisit; onSignOut: () => void }) {
  const { signIn, visitor } = visit;
  const { shares, total, hasMore, failed, loadMore } = usePortalShares(visit);
  const translation = useTranslation();
  const { translate } = translation;
  useEffect(() => {
    document.title = visibleName(signIn.title);
  }, [signIn.title]);
  return (
    <>
      <main class="column">
        <PageHead
          title={signIn.title}
          visitor={visitor}
          canChangePassword={signIn.canChangePassword}
          permissions={total === 0 ? translate('noSharesOpen') : translate('sharesOpen', { count: total })}
          message={signIn.startupMessage}
          onSignOut={onSignOut}
        />
        {shares.length > 0 && (
          <ul class="rows">
            {shares.map((share) => (
              <li key={share.viewUrl} class="row">
                <a class="row-main" href={share.viewUrl} onClick={() => rememberPortal(share.viewUrl, signIn.title)}>
                  <Icon name={share.folder ? 'folder' : 'file'} />
                  <span class="share-title">
                    <span>{visibleName(share.title)}</span>
                    {share.description && <span class="muted small">{share.description}</span>}
                  </span>
                  {share.validityEndDate && <span class="muted small">{untilText(share.validityEndDate, translation)}</span>}
                  <Icon name="right" />
                </a>
              </li>
            ))}
            {hasMore && <MoreShares failed={failed} loadMore={loadMore} key={shares.length} />}
          </ul>
        )}
      </main>
      <PageFoot />
    </>
  );
}
