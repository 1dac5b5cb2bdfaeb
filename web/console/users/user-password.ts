import { Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';

const minLength = 10;

/** Returns why the server would refuse a new user's password, or null. Checked before the user is added. */
export function passwordError(username: string, password: string): string | null {
  if (password.length < minLength) return `must be at least ${minLength} characters long`;
  try {
    checkNewPassword({ password, confirmPassword: password, name: username }, 'password');
    return null;
  } catch (cause) {
    if (cause instanceof Refusal) return cause.extras.fieldErrors?.[0]?.detail ?? cause.message;
    throw cause;
  }
}
