import { keep, recall } from './browser-memory.ts';

const key = 'postern-appearance';
export const appearances = ['device', 'light', 'dark'] as const;
export type Appearance = (typeof appearances)[number];

function apply(appearance: Appearance): void {
  if (appearance === 'device') delete document.documentElement.dataset['appearance'];
  else document.documentElement.dataset['appearance'] = appearance;
}

/** Shows the page as was chosen here before. @returns that choice */
export function rememberedAppearance(): Appearance {
  const kept = appearances.find((one) => one === recall('localStorage', key)) ?? 'device';
  apply(kept);
  return kept;
}

/** Shows the page so from now on. */
export function chooseAppearance(appearance: Appearance): void {
  keep('localStorage', key, appearance);
  apply(appearance);
}
