import { Entrance } from './entrance.tsx';
import { SignInForm } from './sign-in-form.tsx';

export const SignInPage = () => (
  <Entrance title="Sign in to Postern" lead="For those who run this server.">
    <SignInForm />
  </Entrance>
);
