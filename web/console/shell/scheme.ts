import { useMediaQuery } from '@mantine/hooks';
import { useSyncExternalStore } from 'react';
import { type Appearance, chooseAppearance, rememberedAppearance } from '#kit/appearance.ts';

let chosen: Appearance = rememberedAppearance();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows the console so from now on. */
export function choose(appearance: Appearance): void {
  chosen = appearance;
  chooseAppearance(appearance);
  for (const tell of listeners) tell();
}

export const useAppearance = () => useSyncExternalStore(subscribe, () => chosen);

/** Light or dark: as was chosen here, else as the device is. */
export function useScheme(): 'light' | 'dark' {
  const device = useMediaQuery('(prefers-color-scheme: dark)', undefined, { getInitialValueInEffect: false }) ? 'dark' : 'light';
  const appearance = useAppearance();
  return appearance === 'device' ? device : appearance;
}
