import type { PortalVisit, Visit } from '#core/records/visit.ts';

export interface SignInProperties {
  readonly signIn: Visit['signIn'];
  readonly onSignedIn: (visit: Visit | PortalVisit) => void;
  /** Receives failures after which the form is useless. Without it, the form shows all failures. */
  readonly onFailure?: (cause: unknown) => void;
  /** true: the form is a dialog over an open page. A provider is then opened in a second window, so that the page stays open. */
  readonly inWindow?: boolean;
}
