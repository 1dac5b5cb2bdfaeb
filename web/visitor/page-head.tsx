import { useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { visibleName } from '#core/translations/visible-name.ts';
import { Icon } from '#kit/icons.tsx';
import { PasswordDialog } from './sign-in/password-dialog.tsx';
import { useSpeech } from './translations/use-translation.ts';
import type { WayBack } from './way-back.ts';

/** Title, who has signed in, and what may be done. */
export function PageHead({
  title,
  visitor,
  sentence,
  description,
  message,
  back,
  leave,
  ownPassword,
}: {
  title: string;
  visitor: Visit['visitor'];
  sentence: string;
  description?: string;
  message?: string;
  back?: WayBack | null;
  leave: () => void;
  /** Has the visitor a password of their own, which they may change? */
  ownPassword: boolean;
}) {
  const { say } = useSpeech();
  const [changing, setChanging] = useState(false);
  return (
    <header class="head">
      {back && (
        <a class="back" href={back.href}>
          <Icon name="left" /> <span dir="auto">{visibleName(back.title)}</span>
        </a>
      )}
      <div class="head-row">
        <h1 dir="auto">{visibleName(title)}</h1>
        {visitor && (
          <div class="who">
            <span class="quiet">{visitor.name || say('signedIn')}</span>
            {ownPassword && (
              <button type="button" class="icon-button" onClick={() => setChanging(true)} title={say('changePassword')}>
                <Icon name="key" />
                <span class="for-reader">{say('changePassword')}</span>
              </button>
            )}
            <button type="button" class="icon-button" onClick={leave} title={say('signOut')}>
              <Icon name="signOut" />
              <span class="for-reader">{say('signOut')}</span>
            </button>
          </div>
        )}
      </div>
      {description && (
        <p class="lines" dir="auto">
          {description}
        </p>
      )}
      <p class="quiet">{sentence}</p>
      {message && (
        <p class="notice lines" dir="auto">
          {message}
        </p>
      )}
      {changing && <PasswordDialog close={() => setChanging(false)} />}
    </header>
  );
}
