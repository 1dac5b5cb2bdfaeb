import { type ReactNode, useState } from 'react';
import { RecoveryCodes } from './recovery-codes.tsx';

/** What the forms that add a second factor need. */
export interface NewFactorProps {
  /** Called when the factor was added, and its recovery codes were saved. */
  readonly onAdded: () => void;
  /** Called when the recovery codes appear: they must be saved before the form is closed. */
  readonly onCodes: () => void;
  readonly cancel?: () => void;
}

/**
 * Returns what follows after a second factor was added: `finish`, which takes the recovery codes if it is the first one, and the codes to
 * show in place of the form, or null.
 */
export function useNewFactor({ onAdded, onCodes }: NewFactorProps): {
  readonly finish: (recoveryCodes: readonly string[] | undefined) => void;
  readonly shownCodes: ReactNode;
} {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  return {
    finish(recoveryCodes) {
      if (!recoveryCodes) return onAdded();
      setCodes(recoveryCodes);
      onCodes();
    },
    shownCodes: codes && <RecoveryCodes codes={codes} done={onAdded} />,
  };
}
