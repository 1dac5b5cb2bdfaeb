import { Checkbox, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import { permissionPresetNames, permissionPresetOf, permissionPresets, permissions } from './permissions.ts';
import type { ShareValues } from './share-values.ts';

export function PermissionFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const preset = permissionPresetOf(form.values);
  const [isCustom, setCustom] = useState(preset === null);
  const selectPreset = (name: string) => {
    const chosen = permissionPresetNames.find((one) => one === name);
    setCustom(!chosen);
    if (chosen) form.setValues({ ...permissionPresets[chosen].can });
  };
  return (
    <>
      <Radio.Group aria-label="Permissions" value={isCustom || preset === null ? 'custom' : preset} onChange={selectPreset}>
        <SimpleGrid cols={1} spacing="xs" className="choices">
          {permissionPresetNames.map((name) => (
            <Choice key={name} value={name} name={permissionPresets[name].name} description={permissionPresets[name].description} />
          ))}
          <Choice value="custom" name="Custom" description="Choose each permission." />
        </SimpleGrid>
      </Radio.Group>
      {(isCustom || preset === null) && (
        <Stack gap="xs" pl="md">
          {permissions.map(({ flag, name }) => (
            <Checkbox key={flag} label={name} {...form.getInputProps(flag, { type: 'checkbox' })} />
          ))}
        </Stack>
      )}
    </>
  );
}

const Choice = ({ value, name, description }: { value: string; name: string; description: string }) => (
  <Radio.Card value={value} className="choice" aria-label={name} aria-description={description}>
    <Radio.Indicator />
    <div>
      <Text fw={550}>{name}</Text>
      <Text size="sm" c="dimmed">
        {description}
      </Text>
    </div>
  </Radio.Card>
);
