import { CodeForm } from './code-form.tsx';
import { PasswordForm } from './password-form.tsx';
import { ProviderForm } from './provider-form.tsx';
import type { SignInProperties } from './sign-in-properties.ts';

/** The form of the link's kind of sign-in. */
export function SignInForm(properties: SignInProperties) {
  if (properties.signIn.asksProvider) return <ProviderForm {...properties} />;
  return properties.signIn.asksCode ? <CodeForm {...properties} /> : <PasswordForm {...properties} />;
}
