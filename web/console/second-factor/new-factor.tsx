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
 * Shows the recovery codes after the first factor was added. The form calls `finish` when the server has added a factor, and
 * shows `shownCodes` in place of its fields when `shownCodes` is not null.
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
