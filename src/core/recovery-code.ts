/** How many recovery codes an operator gets. */
export const recoveryCodeCount = 10;
const digits = 10;

/** Returns a new recovery code, such as `12345-67890`. */
export function newRecoveryCode(random: { readonly digits: (count: number) => string }): string {
  const code = random.digits(digits);
  return `${code.slice(0, digits / 2)}-${code.slice(digits / 2)}`;
}
