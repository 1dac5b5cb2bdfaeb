import { readStoredText, saveStoredText } from './browser-storage.ts';

const key = 'postern-appearance';
export const appearances = ['device', 'light', 'dark'] as const;
export type Appearance = (typeof appearances)[number];

function apply(appearance: Appearance): void {
  if (appearance === 'device') delete document.documentElement.dataset['appearance'];
  else document.documentElement.dataset['appearance'] = appearance;
}

/** Applies the appearance that was saved in this browser. @returns that appearance, or `device` */
export function applySavedAppearance(): Appearance {
  const appearance = appearances.find((one) => one === readStoredText('localStorage', key)) ?? 'device';
  apply(appearance);
  return appearance;
}

/** Applies an appearance and saves it in this browser. */
export function chooseAppearance(appearance: Appearance): void {
  saveStoredText('localStorage', key, appearance);
  apply(appearance);
}
