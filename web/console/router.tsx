import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { readListState } from './components/list-state.ts';
import { LoadError } from './shell/load-error.tsx';
import { NotFound } from './shell/not-found.tsx';
import { Root } from './shell/root.tsx';

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Root, notFoundComponent: NotFound });

type Load = () => Promise<Record<string, unknown>>;
/** Reads the query parameters of a page: `welcome` after the first start, `created` after a share was created. */
const pageSearch = (raw: Record<string, unknown>): { welcome?: true; created?: true } => ({
  ...(raw['welcome'] === true ? { welcome: true } : {}),
  ...(raw['created'] === true ? { created: true } : {}),
});

const page = <P extends string>(path: P, load: Load, name: string) =>
  createRoute({ getParentRoute: () => root, path, validateSearch: pageSearch, component: lazyRouteComponent(load, name) });

/** Returns the route of a list. Its search, filters and page are query parameters. */
const list = <P extends string>(path: P, load: Load, name: string) =>
  createRoute({ getParentRoute: () => root, path, validateSearch: readListState, component: lazyRouteComponent(load, name) });

const tree = root.addChildren([
  page('/', () => import('./overview/overview-page.tsx'), 'OverviewPage'),
  page('/first', () => import('./shell/first-page.tsx'), 'FirstPage'),
  list('/shares', () => import('./shares/shares-page.tsx'), 'SharesPage'),
  page('/shares/new', () => import('./shares/new-share-page.tsx'), 'NewSharePage'),
  page('/shares/$id', () => import('./shares/share-page.tsx'), 'SharePage'),
  list('/users', () => import('./users/users-page.tsx'), 'UsersPage'),
  page('/users/new', () => import('./users/new-user-page.tsx'), 'NewUserPage'),
  page('/users/import', () => import('./users/import-page.tsx'), 'ImportPage'),
  page('/users/$id', () => import('./users/user-page.tsx'), 'UserPage'),
  list('/profiles', () => import('./profiles/profiles-page.tsx'), 'ProfilesPage'),
  page('/profiles/new', () => import('./profiles/new-profile-page.tsx'), 'NewProfilePage'),
  page('/profiles/$id', () => import('./profiles/profile-page.tsx'), 'ProfilePage'),
  list('/locations', () => import('./locations/locations-page.tsx'), 'LocationsPage'),
  page('/locations/new', () => import('./locations/new-location-page.tsx'), 'NewLocationPage'),
  page('/locations/$id', () => import('./locations/location-page.tsx'), 'LocationPage'),
  list('/activity', () => import('./activity/audit-log-page.tsx'), 'AuditLogPage'),
  list('/settings/keys', () => import('./settings/keys-page.tsx'), 'KeysPage'),
  list('/settings/operators', () => import('./settings/operators-page.tsx'), 'OperatorsPage'),
  list('/settings/mail', () => import('./settings/mail-page.tsx'), 'MailPage'),
  page('/settings/signatures', () => import('./settings/signatures-page.tsx'), 'SignaturesPage'),
  page('/settings/policy', () => import('./settings/policy-page.tsx'), 'PolicyPage'),
  page('/settings/account', () => import('./settings/account-page.tsx'), 'AccountPage'),
]);

/** Returns the router of the console. The code of a page is loaded when a link to it has the pointer or the focus, or when it is opened. */
export const consoleRouter = (client: QueryClient) =>
  createRouter({
    routeTree: tree,
    basepath: '/console',
    context: { client },
    defaultErrorComponent: LoadError,
    scrollRestoration: true,
    defaultPreload: 'intent',
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof consoleRouter>;
  }
}
