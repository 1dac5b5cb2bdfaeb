import { Button, CopyButton, TextInput } from '@mantine/core';
import { Check, Copy } from 'lucide-react';

interface Props {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  /** Text of the button, such as `Copy link`. */
  readonly copyLabel: string;
  /** Shows the button as the primary action of the page. */
  readonly primary?: boolean;
}

/** A read-only field with a button that copies its value. */
export function CopyField({ label, description, value, copyLabel, primary = false }: Props) {
  return (
    <>
      <TextInput
        className="grow"
        flex="1 1 14rem"
        label={label}
        description={description}
        readOnly
        value={value}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <CopyButton value={value} timeout={2500}>
        {({ copied, copy }) => (
          <Button
            {...(primary ? {} : { variant: 'default' })}
            onClick={copy}
            leftSection={copied ? <Check size={18} aria-hidden /> : <Copy size={18} aria-hidden />}
          >
            {copied ? 'Copied' : copyLabel}
          </Button>
        )}
      </CopyButton>
    </>
  );
}
