import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';

const tabs = [
  ['/settings/keys', 'API keys'],
  ['/settings/operators', 'Operators'],
  ['/settings/mail', 'Mail'],
  ['/settings/signatures', 'Signatures'],
  ['/settings/policy', 'Policy'],
] as const;

export function SettingsTabs({ at }: { at: string }) {
  const navigate = useNavigate();
  return (
    <Tabs value={at} onChange={(to) => to && void navigate({ to })} mb="md" activateTabWithKeyboard={false}>
      <Tabs.List aria-label="Settings">
        {tabs.map(([to, name]) => (
          <Tabs.Tab key={to} value={to} aria-controls={undefined}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs>
  );
}
