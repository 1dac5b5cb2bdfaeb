import { Modal, type ModalProps } from '@mantine/core';
import { useEffect } from 'react';

/** Where the focus goes when what had it is gone: to the page, not to nowhere. */
function restoreFocus(): void {
  if (document.activeElement === document.body) document.getElementById('content')?.focus();
}

/** A dialog while it is drawn. Whoever closes it goes on where they were. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  useEffect(() => () => void setTimeout(restoreFocus, 50), []);
  return <Modal opened centered closeOnClickOutside={false} {...props} />;
}
