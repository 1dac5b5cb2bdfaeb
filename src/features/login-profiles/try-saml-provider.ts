import { X509Certificate } from 'node:crypto';
import type { TestedStep } from '#core/records/test-result.ts';
import { ProviderRefused, ProviderUnavailable } from '#ports/provider-errors.ts';
import type { SamlProvider, SamlProviders } from '#ports/saml.ts';
import { step } from './test-step.ts';

/** Returns the last day on which a certificate is valid, or null if it cannot be read. @param pem the certificate */
function lastDayOf(pem: string): string | null {
  try {
    return new X509Certificate(pem).validToDate.toISOString().slice(0, 10);
  } catch {
    return null;
  }
}

/** Returns the test step for the certificates of a provider: whether they can be read, and how long they are valid. */
function certificateStep(certificates: readonly string[]): TestedStep {
  const lastDays = certificates.map(lastDayOf);
  const unreadable = lastDays.indexOf(null);
  const problem = unreadable < 0 ? null : `Certificate ${unreadable + 1} cannot be read.`;
  return step('certificates', problem, `Signing certificates: ${certificates.length}. Valid until: ${lastDays.join(', ')}.`);
}

/** Tries a SAML provider as far as is possible without a user: reads its metadata, if the profile has any, and its certificates. */
export async function trySamlProvider(saml: SamlProviders, provider: SamlProvider, tid: number): Promise<readonly TestedStep[]> {
  try {
    const { entityId, entryPoint, certificates } = await saml.describe(provider, tid);
    return [step('metadata', null, `The provider is ${entityId}. Browsers are sent to ${entryPoint}.`), certificateStep(certificates)];
  } catch (cause) {
    if (cause instanceof ProviderUnavailable || cause instanceof ProviderRefused) return [step('metadata', cause.message)];
    throw cause;
  }
}
