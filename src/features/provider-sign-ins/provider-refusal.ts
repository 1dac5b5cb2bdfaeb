import { Refusal } from '#core/messages.ts';
import { ClaimsRefused } from '#core/openid/identity-of-claims.ts';
import { StatementRefused } from '#core/saml/identity-of-statement.ts';
import { ProviderRefused, ProviderUnavailable } from '#ports/provider-errors.ts';

/** Returns the refusal for a sign-in that a provider refused, or whose statement failed a check. @param forOperator the reason */
export const providerRefusal = (forOperator: string): Refusal => new Refusal('providerRefused', undefined, { forOperator });

/** Returns the refusal for an error of a provider. Returns any other error unchanged. */
export function providerErrorAsRefusal(cause: unknown): unknown {
  if (cause instanceof ProviderUnavailable) return new Refusal('providerAway', undefined, { forOperator: cause.message });
  const isRefused = cause instanceof ProviderRefused || cause instanceof ClaimsRefused || cause instanceof StatementRefused;
  return isRefused ? providerRefusal(cause.message) : cause;
}

/** Throws the result of `providerErrorAsRefusal`. For `catch` of a promise. */
export function throwAsRefusal(cause: unknown): never {
  throw providerErrorAsRefusal(cause);
}
