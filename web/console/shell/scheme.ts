import { useMediaQuery } from '@mantine/hooks';
import { useSyncExternalStore } from 'react';
import { type Appearance, chooseAppearance, rememberedAppearance } from '#kit/appearance.ts';

let current: Appearance = rememberedAppearance();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows the console so from now on. */
export function selectAppearance(appearance: Appearance): void {
  current = appearance;
  chooseAppearance(appearance);
  for (const notify of listeners) notify();
}

export const useAppearance = () => useSyncExternalStore(subscribe, () => current);

/** Light or dark: as was chosen here, else as the device is. */
export function useColorScheme(): 'light' | 'dark' {
  const device = useMediaQuery('(prefers-color-scheme: dark)', undefined, { getInitialValueInEffect: false }) ? 'dark' : 'light';
  const appearance = useAppearance();
  return appearance === 'device' ? device : appearance;
}
