import { Group, NumberInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';

const bytesPerGigabyte = 1e9;
const decimalPlaces = 9; // of gigabytes, so that every number of bytes can be entered

/** The form values of a quota. An empty field: no limit. */
export interface QuotaValues {
  /** Gigabytes of 10^9 bytes. */
  readonly maxGigabytes: number | '';
  readonly maxFiles: number | '';
}

export const quotaValuesOf = ({
  maxBytes,
  maxFiles,
}: {
  readonly maxBytes: number | null;
  readonly maxFiles: number | null;
}): QuotaValues => ({
  maxGigabytes: maxBytes === null ? '' : maxBytes / bytesPerGigabyte,
  maxFiles: maxFiles ?? '',
});

export const quotaBodyOf = ({ maxGigabytes, maxFiles }: QuotaValues) => ({
  maxBytes: maxGigabytes === '' ? null : Math.round(maxGigabytes * bytesPerGigabyte),
  maxFiles: maxFiles === '' ? null : maxFiles,
});

interface Properties {
  /** `getInputProps` of a form whose values include `QuotaValues`. */
  readonly inputProps: (field: keyof QuotaValues) => GetInputPropsReturnType;
}

export const QuotaFields = ({ inputProps }: Properties) => (
  <Group grow align="start">
    <NumberInput
      label="Maximum total size"
      description="Gigabytes. Leave empty for no limit."
      placeholder="No limit"
      min={0}
      decimalScale={decimalPlaces}
      suffix=" GB"
      thousandSeparator=","
      {...inputProps('maxGigabytes')}
    />
    <NumberInput
      label="Maximum number of files"
      description="Leave empty for no limit."
      placeholder="No limit"
      min={0}
      allowDecimal={false}
      thousandSeparator=","
      {...inputProps('maxFiles')}
    />
  </Group>
);
