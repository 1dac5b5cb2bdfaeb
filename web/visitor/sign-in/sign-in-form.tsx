import type { PortalVisit, Visit } from '#core/records/visit.ts';
import { CodeForm } from './code-form.tsx';
import { PasswordForm } from './password-form.tsx';

export interface SignInProperties {
  readonly signIn: Visit['signIn'];
  readonly onSignedIn: (visit: Visit | PortalVisit) => void;
  /** Receives failures after which the form is useless. Without it, the form shows all failures. */
  readonly onFailure?: (cause: unknown) => void;
}

/** The form of the link's kind of sign-in. */
export const SignInForm = (properties: SignInProperties) =>
  properties.signIn.asksCode ? <CodeForm {...properties} /> : <PasswordForm {...properties} />;
