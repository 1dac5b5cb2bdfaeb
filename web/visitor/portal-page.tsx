import { useEffect } from 'preact/hooks';
import type { PortalVisit } from '#core/records/visit.ts';
import { formatEnd } from '#kit/format.ts';
import { Icon } from '#kit/icons.tsx';
import { PageHead } from './page-head.tsx';

/** Every share that admits the visitor who has signed in. */
export function PortalPage({ visit, leave }: { visit: PortalVisit; leave: () => void }) {
  const { signIn, shares, visitor } = visit;
  useEffect(() => {
    document.title = signIn.title;
  }, [signIn.title]);
  const count = shares.length === 1 ? 'One share is open to you.' : `${shares.length} shares are open to you.`;
  return (
    <main class="column">
      <PageHead
        title={signIn.title}
        visitor={visitor}
        sentence={shares.length === 0 ? 'Nothing is open to you at this moment.' : count}
        message={signIn.startupMessage}
        leave={leave}
      />
      {shares.length > 0 && (
        <ul class="rows">
          {shares.map((share) => (
            <li key={share.viewUrl} class="row">
              <a class="row-main" href={share.viewUrl}>
                <Icon name={share.folder ? 'folder' : 'file'} />
                <span class="share-title">
                  <span>{share.title}</span>
                  {share.description && <span class="quiet small">{share.description}</span>}
                </span>
                {share.validityEndDate && <span class="quiet small">until {formatEnd(share.validityEndDate)}</span>}
                <Icon name="right" />
              </a>
            </li>
          ))}
        </ul>
      )}
    </main>
  );
}
