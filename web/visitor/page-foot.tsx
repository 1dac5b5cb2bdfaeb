import { useState } from 'preact/hooks';
import { type Appearance, appearances, applySavedAppearance, chooseAppearance } from '#kit/appearance.ts';
import { useTranslation } from './translations/use-translation.ts';

const messageKeys = { device: 'asDevice', light: 'light', dark: 'dark' } as const satisfies Record<Appearance, string>;

/** The page footer: the product name, and the choice between light, dark and the setting of the device. */
export function PageFoot() {
  const { translate } = useTranslation();
  const [current, setCurrent] = useState(applySavedAppearance);
  const choose = (value: string) => {
    const appearance = appearances.find((one) => one === value) ?? 'device';
    chooseAppearance(appearance);
    setCurrent(appearance);
  };
  return (
    <footer class="foot muted">
      <span>{translate('poweredBy')}</span>
      <select aria-label={translate('appearance')} value={current} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {appearances.map((appearance) => (
          <option key={appearance} value={appearance}>
            {translate(messageKeys[appearance])}
          </option>
        ))}
      </select>
    </footer>
  );
}
