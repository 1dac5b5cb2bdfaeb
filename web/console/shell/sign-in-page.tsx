import { CardPage } from './card-page.tsx';
import { ProviderButton } from './provider-button.tsx';
import { SignInForm } from './sign-in-form.tsx';

export const SignInPage = () => (
  <CardPage title="Sign in to Postern" lead="For operators of this server.">
    <ProviderButton />
    <SignInForm />
  </CardPage>
);
