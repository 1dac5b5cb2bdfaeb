import { Input, SegmentedControl, type SegmentedControlProps } from '@mantine/core';

/** A choice of a few values, all of them visible. */
export const Choice = ({ label, ...props }: { readonly label: string } & SegmentedControlProps) => (
  <Input.Wrapper label={label} labelElement="div">
    <SegmentedControl aria-label={label} fullWidth {...props} />
  </Input.Wrapper>
);
