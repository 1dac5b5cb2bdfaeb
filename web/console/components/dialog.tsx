import { Modal, type ModalProps } from '@mantine/core';
import { useEffect } from 'react';

/** Moves the focus to the content of the page when the focused element was removed. */
function restoreFocus(): void {
  if (document.activeElement === document.body) document.getElementById('content')?.focus();
}

/** An open dialog. Closing it returns the focus to the page. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  useEffect(() => () => void setTimeout(restoreFocus, 50), []);
  return <Modal opened centered closeOnClickOutside={false} {...props} />;
}
