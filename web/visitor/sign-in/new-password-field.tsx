import { useTranslation } from '#visitor/translations/use-translation.ts';

const minLength = 10; // characters: the server has the same limit

export function NewPasswordField() {
  const { translate } = useTranslation();
  return (
    <>
      <label>
        {translate('newPassword')}
        <input
          name="newPassword"
          type="password"
          autocomplete="new-password"
          minLength={minLength}
          maxLength={256}
          required
          aria-describedby="new-password-hint"
        />
      </label>
      <p class="muted" id="new-password-hint">
        {translate('newPasswordHint')}
      </p>
    </>
  );
}
