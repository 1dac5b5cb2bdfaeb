import { useEffect, useRef } from 'preact/hooks';
import type { PortalVisit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { PageFoot } from './page-foot.tsx';
import { PageHead } from './page-head.tsx';
import { untilWords } from './translations/sentences.ts';
import { useSpeech } from './translations/use-translation.ts';
import { usePortalShares } from './use-portal-shares.ts';
import { keepWayBack } from './way-back.ts';

/** The row behind the shares that are loaded: the next ones are loaded when it comes into view. */
function MoreShares({ failed, loadMore }: { failed: boolean; loadMore: () => void }) {
  const { say } = useSpeech();
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!row.current || failed) return;
    const observer = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && loadMore());
    observer.observe(row.current);
    return () => observer.disconnect();
  }, [failed]);
  return (
    <li class="row" ref={row}>
      {failed ? (
        <button type="button" onClick={loadMore}>
          {say('tryAgain')}
        </button>
      ) : (
        <span class="quiet">{say('loading')}</span>
      )}
    </li>
  );
}

/** Every share that admits the visitor who has signed in. */
export function PortalPage({ visit, leave }: { visit: PortalVisit; leave: () => void }) {
  const { signIn, visitor } = visit;
  const { shares, total, failed, loadMore } = usePortalShares(visit);
  const speech = useSpeech();
  const { say } = speech;
  useEffect(() => {
    document.title = signIn.title;
  }, [signIn.title]);
  return (
    <>
      <main class="column">
        <PageHead
          title={signIn.title}
          visitor={visitor}
          ownPassword={signIn.typeString === 'USERS'}
          sentence={total === 0 ? say('noSharesOpen') : say('sharesOpen', { count: total })}
          message={signIn.startupMessage}
          leave={leave}
        />
        {shares.length > 0 && (
          <ul class="rows">
            {shares.map((share) => (
              <li key={share.viewUrl} class="row">
                <a class="row-main" href={share.viewUrl} onClick={() => keepWayBack(share.viewUrl, signIn.title)}>
                  <Icon name={share.folder ? 'folder' : 'file'} />
                  <span class="share-title">
                    <span>{share.title}</span>
                    {share.description && <span class="quiet small">{share.description}</span>}
                  </span>
                  {share.validityEndDate && <span class="quiet small">{untilWords(share.validityEndDate, speech)}</span>}
                  <Icon name="right" />
                </a>
              </li>
            ))}
            {shares.length < total && <MoreShares failed={failed} loadMore={loadMore} key={shares.length} />}
          </ul>
        )}
      </main>
      <PageFoot />
    </>
  );
}
