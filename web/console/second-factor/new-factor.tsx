import { type ReactNode, useState } from 'react';
import { RecoveryCodes } from './recovery-codes.tsx';

/** What the forms that add a second factor need. */
export interface NewFactorProps {
  /** Called after the factor was added. If it was the first one, called after the operator has saved the recovery codes. */
  readonly onAdded: () => void;
  /** Called when the recovery codes appear: they must be saved before the form is closed. */
  readonly onCodes: () => void;
  readonly cancel?: () => void;
}

/**
 * Returns `finish`, which the form calls after the server has added the factor (with the recovery codes if it is the first factor), and
 * `shownCodes`, the recovery codes to show in place of the form, or null.
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
