import { Select } from '@mantine/core';
import type { ProfileFormReturn } from './profile-form-return.ts';
import type { ProfileValues } from './profile-values.ts';

/** The usual settings of a well-known provider or directory. */
export interface ProfilePreset {
  readonly name: string;
  readonly values: Partial<ProfileValues>;
}

interface Props {
  readonly form: ProfileFormReturn;
  readonly label: string;
  readonly presets: readonly ProfilePreset[];
}

/** A field that fills in the other fields with a preset. */
export const PresetSelect = ({ form, label, presets }: Props) => (
  <Select
    label={label}
    description="Fills in the fields below. Replace parts such as YOUR-HOST or TENANT-ID with your own values."
    placeholder="Choose, or fill in the fields yourself"
    data={presets.map(({ name }) => name)}
    value={null}
    onChange={(presetName) => {
      const preset = presets.find(({ name }) => name === presetName);
      if (preset) form.setValues(preset.values);
    }}
  />
);
