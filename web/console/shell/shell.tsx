import { AppShell, Burger, Group, Kbd, NavLink, ScrollArea, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Activity, Database, House, KeyRound, type LucideIcon, Search, Settings, Share2, Users } from 'lucide-react';
import { useEffect } from 'react';
import type { Role } from '#core/policy/role.ts';
import { AccountMenu } from './account-menu.tsx';
import { Palette } from './palette.tsx';
import { useMay } from './who.ts';

interface Place {
  readonly to: string;
  readonly name: string;
  readonly icon: LucideIcon;
  readonly role: Role;
}

const places: readonly Place[] = [
  { to: '/', name: 'Overview', icon: House, role: 'reader' },
  { to: '/shares', name: 'Shares', icon: Share2, role: 'reader' },
  { to: '/people', name: 'People', icon: Users, role: 'reader' },
  { to: '/profiles', name: 'Login profiles', icon: KeyRound, role: 'reader' },
  { to: '/locations', name: 'Locations', icon: Database, role: 'editor' },
  { to: '/activity', name: 'Activity', icon: Activity, role: 'admin' },
  { to: '/settings/keys', name: 'Settings', icon: Settings, role: 'admin' },
];

function RailLink({ place: { to, name, icon: Icon, role } }: { place: Place }) {
  const { pathname } = useLocation();
  const may = useMay(role);
  if (!may) return null;
  const section = to === '/' ? '/' : `/${to.split('/')[1]}`;
  const active = section === '/' ? pathname === '/' : pathname === section || pathname.startsWith(`${section}/`);
  return (
    <NavLink
      component={Link}
      to={to}
      label={name}
      active={active}
      {...(active ? { 'aria-current': 'page' } : {})}
      leftSection={<Icon size={18} aria-hidden />}
    />
  );
}

/** The rail, what is found from everywhere, and the page. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the rail on a phone
  useEffect(close, [pathname]);
  return (
    <AppShell header={{ height: 56 }} navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !opened } }} padding="md">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={opened ? 'Close the menu' : 'Open the menu'} />
            <Text fw={650} fz="lg">
              Postern
            </Text>
          </Group>
          <UnstyledButton className="find" onClick={spotlight.open}>
            <Search size={16} aria-hidden />
            <span>Find or do</span>
            <Kbd size="xs" visibleFrom="sm">
              Ctrl K
            </Kbd>
          </UnstyledButton>
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Sections">
        <AppShell.Section grow component={ScrollArea}>
          {places.map((place) => (
            <RailLink key={place.to} place={place} />
          ))}
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="content">
          <Outlet />
        </div>
      </AppShell.Main>
      <Palette />
    </AppShell>
  );
}
