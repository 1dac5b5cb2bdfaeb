import { Textarea, type TextareaProps } from '@mantine/core';
import { secretMask } from '#core/records/login-profile.ts';

/** A field for a private key, which has several lines. A stored key appears as a mask. The key is kept unless the operator replaces it. */
export function PrivateKeyInput(props: TextareaProps) {
  const isStored = props.value === secretMask;
  return (
    <Textarea
      autoComplete="off"
      spellCheck={false}
      autosize
      minRows={3}
      maxRows={8}
      description={isStored ? 'A key is stored. Paste another one to replace it.' : undefined}
      {...props}
      onFocus={({ currentTarget }) => isStored && currentTarget.select()}
    />
  );
}
