import { AppShell, Burger, Group, Kbd, NavLink, ScrollArea, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Activity, Database, House, KeyRound, type LucideIcon, Search, Settings, Share2, Users } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { Role } from '#core/authorization/role.ts';
import { AccountMenu } from './account-menu.tsx';
import { useHasRole } from './caller.ts';
import { CommandPalette } from './command-palette.tsx';
import { RequireRole } from './require-role.tsx';

interface NavigationItem {
  readonly to: string;
  readonly name: string;
  readonly icon: LucideIcon;
  readonly role: Role;
}

const navigationItems: readonly NavigationItem[] = [
  { to: '/', name: 'Overview', icon: House, role: 'reader' },
  { to: '/shares', name: 'Shares', icon: Share2, role: 'reader' },
  { to: '/users', name: 'Access users', icon: Users, role: 'reader' },
  { to: '/profiles', name: 'Login profiles', icon: KeyRound, role: 'reader' },
  { to: '/locations', name: 'Locations', icon: Database, role: 'editor' },
  { to: '/activity', name: 'Audit log', icon: Activity, role: 'admin' },
  { to: '/settings/keys', name: 'Settings', icon: Settings, role: 'admin' },
];

/** Pages that need a different role than their section. */
const pageRoles: readonly (readonly [string, Role])[] = [
  ['/shares/new', 'editor'],
  ['/users/new', 'editor'],
  ['/users/import', 'editor'],
  ['/profiles/new', 'admin'],
  ['/locations/new', 'admin'],
  ['/settings/account', 'reader'],
];

/** Returns the role that an operator needs to see a page. The page of one location also checks for the role admin. */
function roleFor(pathname: string): Role {
  const ownRole = pageRoles.find(([path]) => path === pathname)?.[1];
  return ownRole ?? navigationItems.find(({ to }) => to !== '/' && pathname.startsWith(`/${to.split('/')[1]}`))?.role ?? 'reader';
}

function NavigationLink({ item: { to, name, icon: Icon, role }, onNavigate }: { item: NavigationItem; onNavigate: () => void }) {
  const { pathname } = useLocation();
  const hasRole = useHasRole(role);
  if (!hasRole) return null;
  const section = to === '/' ? '/' : `/${to.split('/')[1]}`;
  const active = section === '/' ? pathname === '/' : pathname === section || pathname.startsWith(`${section}/`);
  return (
    <NavLink
      component={Link}
      to={to}
      onClick={onNavigate}
      label={name}
      active={active}
      {...(active ? { 'aria-current': 'page' } : {})}
      leftSection={<Icon size={18} aria-hidden />}
    />
  );
}

/** The frame of the console: navigation, search and the current page. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const isPhone = useMediaQuery('(max-width: 47.99em)');
  const first = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page moves the focus to its content
  useEffect(() => {
    if (!first.current) document.getElementById('content')?.focus();
    first.current = false;
  }, [pathname]);
  return (
    <AppShell header={{ height: 56 }} navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !opened } }} padding="md">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={opened ? 'Close menu' : 'Open menu'} />
            <Text fw={650} fz="lg">
              Postern
            </Text>
          </Group>
          <UnstyledButton className="search-button" onClick={spotlight.open}>
            <Search size={16} aria-hidden />
            <span>Search</span>
            <Kbd size="xs" visibleFrom="sm">
              Ctrl K
            </Kbd>
          </UnstyledButton>
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Sections" inert={Boolean(isPhone) && !opened}>
        <AppShell.Section grow component={ScrollArea}>
          {navigationItems.map((item) => (
            <NavigationLink key={item.to} item={item} onNavigate={close} />
          ))}
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="content">
          <RequireRole role={roleFor(pathname)}>
            <Outlet />
          </RequireRole>
        </div>
      </AppShell.Main>
      <CommandPalette />
    </AppShell>
  );
}
