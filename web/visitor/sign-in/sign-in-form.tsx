import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { CodeForm } from './code-form.tsx';
import { PasswordForm } from './password-form.tsx';
import { ProviderForm } from './provider-form.tsx';

export interface SignInProperties {
  readonly signIn: Visit['signIn'];
  readonly onSignedIn: (visit: Visit | PortalVisit) => void;
  /** Receives failures after which the form is useless. Without it, the form shows all failures. */
  readonly onFailure?: (cause: unknown) => void;
  /** true: the page has work in progress, so a provider is opened in a second window. */
  readonly inWindow?: boolean;
}

/** The form of the link's kind of sign-in. */
export function SignInForm(properties: SignInProperties) {
  if (properties.signIn.asksProvider) return <ProviderForm {...properties} />;
  return properties.signIn.asksCode ? <CodeForm {...properties} /> : <PasswordForm {...properties} />;
}
