import { isCommonPassword } from './common-passwords.ts';
import { fold } from './fold.ts';
import { fieldRefusal } from './messages.ts';

/** A new password, its repetition, and the name of its user. */
interface NewPassword {
  readonly password: string;
  readonly confirmPassword: string;
  readonly name: string;
}

const minLength = 10; // characters

/**
 * Checks that a password is not easy to guess.
 * @param field name of the password in the body
 * @throws Refusal `fieldInvalid` (400) that names the field
 */
export function checkNotGuessable(password: string, field: string): void {
  if (password.length < minLength) throw fieldRefusal(field, `must be at least ${minLength} characters long`);
  if (isCommonPassword(password)) throw fieldRefusal(field, 'is one of the most common passwords; choose another one');
}

/**
 * Checks a new password against all rules.
 * @param field name of the password in the body
 * @throws Refusal `fieldInvalid` (400) that names the field, or `confirmPassword` if the repetition differs
 */
export function checkNewPassword({ password, confirmPassword, name }: NewPassword, field: string): void {
  if (password !== confirmPassword) throw fieldRefusal('confirmPassword', `must be equal to ${field}`);
  if (fold(password) === fold(name)) throw fieldRefusal(field, "must not be the user's own name");
  checkNotGuessable(password, field);
}
