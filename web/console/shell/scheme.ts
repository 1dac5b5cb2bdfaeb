import { useMediaQuery } from '@mantine/hooks';
import { useSyncExternalStore } from 'react';
import { type Appearance, applySavedAppearance, chooseAppearance } from '#kit/appearance.ts';

let current: Appearance = applySavedAppearance();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Sets the appearance of the console, and stores it for all pages of Postern in this browser. */
export function selectAppearance(appearance: Appearance): void {
  current = appearance;
  chooseAppearance(appearance);
  for (const notify of listeners) notify();
}

export const useAppearance = () => useSyncExternalStore(subscribe, () => current);

/** Returns the color scheme: the selected one, or else that of the device. */
export function useColorScheme(): 'light' | 'dark' {
  const device = useMediaQuery('(prefers-color-scheme: dark)', undefined, { getInitialValueInEffect: false }) ? 'dark' : 'light';
  const appearance = useAppearance();
  return appearance === 'device' ? device : appearance;
}
