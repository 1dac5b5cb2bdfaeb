import { isCommonPassword } from './common-passwords.ts';
import { fold } from './fold.ts';
import { fieldRefusal } from './messages.ts';

/** A new password as it is chosen, and for whom. */
interface Chosen {
  readonly password: string;
  readonly confirmPassword: string;
  readonly name: string;
}

const shortestPassword = 10; // characters

/** Refuses a password that is soon guessed. @throws 400 at the field */
export function checkGuessable(password: string, field: string): void {
  if (password.length < shortestPassword) throw fieldRefusal(field, `must be at least ${shortestPassword} characters long`);
  if (isCommonPassword(password)) throw fieldRefusal(field, 'is one of the commonest passwords; choose another');
}

/**
 * What a new password must be (decisions.md, Fields: updateUserPassword).
 * @param field name of the password in the body
 * @throws 400 at the field
 */
export function checkNewPassword({ password, confirmPassword, name }: Chosen, field: string): void {
  if (password !== confirmPassword) throw fieldRefusal('confirmPassword', `must be equal to ${field}`);
  if (fold(password) === fold(name)) throw fieldRefusal(field, "must not be the user's own name");
  checkGuessable(password, field);
}
