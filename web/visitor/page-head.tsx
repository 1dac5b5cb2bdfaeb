import { useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { visibleName } from '#core/translations/visible-name.ts';
import { Icon } from '#kit/icons.tsx';
import type { PortalLink } from './portal-link.ts';
import { PasswordDialog } from './sign-in/password-dialog.tsx';
import { useTranslation } from './translations/use-translation.ts';

/** The header of the page of a share or portal: the title, the visitor's name, and the permissions or the number of shares. */
export function PageHead({
  title,
  visitor,
  permissions,
  description,
  message,
  back,
  onSignOut,
  canChangePassword,
}: {
  title: string;
  visitor: Visit['visitor'];
  permissions: string;
  description?: string;
  message?: string;
  back?: PortalLink | null;
  onSignOut: () => void;
  /** Whether the visitor is an access user with a password of their own. */
  canChangePassword: boolean;
}) {
  const { translate } = useTranslation();
  const [isChangingPassword, setChangingPassword] = useState(false);
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
            <span class="muted">{visitor.name || translate('signedIn')}</span>
            {canChangePassword && (
              <button type="button" class="icon-button" onClick={() => setChangingPassword(true)} title={translate('changePassword')}>
                <Icon name="key" />
                <span class="for-reader">{translate('changePassword')}</span>
              </button>
            )}
            <button type="button" class="icon-button" onClick={onSignOut} title={translate('signOut')}>
              <Icon name="signOut" />
              <span class="for-reader">{translate('signOut')}</span>
            </button>
          </div>
        )}
      </div>
      {description && (
        <p class="lines" dir="auto">
          {description}
        </p>
      )}
      <p class="muted">{permissions}</p>
      {message && (
        <p class="notice lines" dir="auto">
          {message}
        </p>
      )}
      {isChangingPassword && <PasswordDialog close={() => setChangingPassword(false)} />}
    </header>
  );
}
