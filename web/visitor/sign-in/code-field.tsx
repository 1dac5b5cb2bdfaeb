import type { RefObject } from 'preact';
import { spacedCode } from '#core/sign-in-codes.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';

/** The field for a code from a mail. @param mailedCode code of the mail whose link has opened this page */
export function CodeField({
  field,
  mailedCode,
}: {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly mailedCode: string | null;
}) {
  const { language, translate } = useTranslation();
  return (
    <label>
      {translate('code')}
      <input
        ref={field}
        name="code"
        class="code"
        defaultValue={mailedCode === null ? '' : spacedCode(mailedCode, language)}
        autocomplete="one-time-code"
        inputMode="numeric"
        maxLength={32}
        required
        dir="ltr"
      />
    </label>
  );
}
