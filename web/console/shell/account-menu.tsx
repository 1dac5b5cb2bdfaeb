import { Menu, Text, UnstyledButton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react';
import { asProblem } from '#console/api/call.ts';
import { signOut } from '#console/api/session.ts';
import { deleteAllDrafts } from '#console/components/drafts.ts';
import { showMessage } from '#console/components/show-message.tsx';
import { appearances } from '#kit/appearance.ts';
import { useCaller } from './caller.ts';
import { selectAppearance, useAppearance } from './scheme.ts';

const appearanceLabels = {
  device: { name: 'Same as device', icon: Monitor },
  light: { name: 'Light', icon: Sun },
  dark: { name: 'Dark', icon: Moon },
} as const;

export function AccountMenu() {
  const caller = useCaller();
  const appearance = useAppearance();
  const client = useQueryClient();
  async function endSession() {
    try {
      await signOut();
    } catch (cause) {
      return showMessage({ text: `The sign-out failed. ${asProblem(cause).message}`, failed: true });
    }
    client.clear();
    deleteAllDrafts();
    window.location.assign('/console');
  }
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton className="account">
          <UserRound size={18} aria-hidden />
          <span className="account-name">{caller.name}</span>
          <ChevronDown size={14} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Text px="sm" py={4} fz="xs" c="dimmed">
          {caller.name}, {caller.role} of {caller.tenantTitle}
        </Text>
        <Menu.Item component={Link} to="/settings/account" leftSection={<UserRound size={16} aria-hidden />}>
          Your account
        </Menu.Item>
        <Menu.Divider />
        {appearances.map((one) => {
          const { name, icon: Icon } = appearanceLabels[one];
          return (
            <Menu.Item
              key={one}
              role="menuitemradio"
              aria-checked={appearance === one}
              leftSection={<Icon size={16} aria-hidden />}
              rightSection={appearance === one ? '✓' : null}
              onClick={() => selectAppearance(one)}
            >
              {name}
            </Menu.Item>
          );
        })}
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => void endSession()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
