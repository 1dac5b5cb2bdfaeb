import { Checkbox, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import { permissions, presetNames, presetOf, presets } from './permissions.ts';
import type { ShareValues } from './share-values.ts';

/** What visitors may do: one choice for what is mostly meant, or each permission by itself. */
export function PermissionFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const preset = presetOf(form.values);
  const [isCustom, setCustom] = useState(preset === null);
  const choose = (name: string) => {
    const chosen = presetNames.find((one) => one === name);
    setCustom(!chosen);
    if (chosen) form.setValues({ ...presets[chosen].can });
  };
  return (
    <>
      <Radio.Group aria-label="What visitors may do" value={isCustom || preset === null ? 'own' : preset} onChange={choose}>
        <SimpleGrid cols={1} spacing="xs" className="choices">
          {presetNames.map((name) => (
            <Choice key={name} value={name} name={presets[name].name} words={presets[name].words} />
          ))}
          <Choice value="own" name="Own choice" words="Each permission by itself." />
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

const Choice = ({ value, name, words }: { value: string; name: string; words: string }) => (
  <Radio.Card value={value} className="choice" aria-label={name} aria-description={words}>
    <Radio.Indicator />
    <div>
      <Text fw={550}>{name}</Text>
      <Text size="sm" c="dimmed">
        {words}
      </Text>
    </div>
  </Radio.Card>
);
