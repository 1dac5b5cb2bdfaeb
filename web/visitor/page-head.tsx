import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';

/** Title, who has signed in, and what may be done. */
export function PageHead({
  title,
  visitor,
  sentence,
  description,
  message,
  leave,
}: {
  title: string;
  visitor: Visit['visitor'];
  sentence: string;
  description?: string;
  message?: string;
  leave: () => void;
}) {
  return (
    <header class="head">
      <div class="head-row">
        <h1>{title}</h1>
        {visitor && (
          <div class="who">
            <span class="quiet">{visitor.name || 'Signed in'}</span>
            <button type="button" class="icon-button" onClick={leave} title="Sign out">
              <Icon name="signOut" />
              <span class="for-reader">Sign out</span>
            </button>
          </div>
        )}
      </div>
      {description && <p class="lines">{description}</p>}
      <p class="quiet">{sentence}</p>
      {message && <p class="notice lines">{message}</p>}
    </header>
  );
}
