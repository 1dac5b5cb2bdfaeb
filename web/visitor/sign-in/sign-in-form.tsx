import { CodeForm } from './code-form.tsx';
import { PasswordForm } from './password-form.tsx';
import { ProviderForm } from './provider-form.tsx';
import type { SignInProperties } from './sign-in-properties.ts';

/** The form for the kind of sign-in of a link or portal. */
export function SignInForm(properties: SignInProperties) {
  if (properties.signIn.asksProvider) return <ProviderForm {...properties} />;
  return properties.signIn.asksCode ? <CodeForm {...properties} /> : <PasswordForm {...properties} />;
}
