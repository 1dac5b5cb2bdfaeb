import { useState } from 'preact/hooks';
import { type Appearance, appearances, chooseAppearance, rememberedAppearance } from '#kit/appearance.ts';
import { useSpeech } from './translations/use-translation.ts';

const names = { device: 'asDevice', light: 'light', dark: 'dark' } as const satisfies Record<Appearance, string>;

/** A small line at the foot: who sent it, and light or dark. */
export function PageFoot() {
  const { say } = useSpeech();
  const [chosen, setChosen] = useState(rememberedAppearance);
  const choose = (value: string) => {
    const appearance = appearances.find((one) => one === value) ?? 'device';
    chooseAppearance(appearance);
    setChosen(appearance);
  };
  return (
    <footer class="foot quiet">
      <span>{say('sentWith')}</span>
      <select aria-label={say('appearance')} value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {appearances.map((appearance) => (
          <option key={appearance} value={appearance}>
            {say(names[appearance])}
          </option>
        ))}
      </select>
    </footer>
  );
}
