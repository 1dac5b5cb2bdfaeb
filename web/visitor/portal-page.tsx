import { useEffect } from 'preact/hooks';
import type { PortalVisit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { PageFoot } from './page-foot.tsx';
import { PageHead } from './page-head.tsx';
import { keepWayBack } from './way-back.ts';
import { untilWords } from './words/sentences.ts';
import { useSpeech } from './words/speech.ts';

/** Every share that admits the visitor who has signed in. */
export function PortalPage({ visit, leave }: { visit: PortalVisit; leave: () => void }) {
  const { signIn, shares, visitor } = visit;
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
          sentence={shares.length === 0 ? say('noSharesOpen') : say('sharesOpen', { count: shares.length })}
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
          </ul>
        )}
      </main>
      <PageFoot />
    </>
  );
}
