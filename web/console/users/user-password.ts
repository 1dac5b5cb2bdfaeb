import { Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';

const minLength = 10;
const maxLength = 256; // `limits.password` of the interface

/** Returns what is wrong with a new user's password (for example too short, too common, or the user's name), or null. Call before adding the user. */
export function passwordError(username: string, password: string): string | null {
  if (password.length < minLength) return `must be at least ${minLength} characters long`;
  if (password.length > maxLength) return `must be at most ${maxLength} characters long`;
  if (/\p{Cc}/u.test(password)) return 'must be a single line without control characters';
  try {
    checkNewPassword({ password, confirmPassword: password, name: username }, 'password');
    return null;
  } catch (cause) {
    if (cause instanceof Refusal) return cause.extras.fieldErrors?.[0]?.detail ?? cause.message;
    throw cause;
  }
}
