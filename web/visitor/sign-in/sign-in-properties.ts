import type { PortalVisit, Visit } from '#core/records/visit.ts';

export interface SignInProperties {
  readonly signIn: Visit['signIn'];
  readonly onSignedIn: (visit: Visit | PortalVisit) => void;
  /** Receives failures after which the form is useless. Without it, the form shows all failures. */
  readonly onFailure?: (cause: unknown) => void;
  /** true: the page has work in progress, so a provider is opened in a second window. */
  readonly inWindow?: boolean;
}
