import { X509Certificate } from 'node:crypto';
import { ProviderRefused, ProviderUnavailable } from '#ports/provider-errors.ts';
import type { SamlProvider, SamlProviders } from '#ports/saml.ts';
import { type Step, step } from './test-step.ts';

/** Returns what the operator should know about the certificates of a provider, given in PEM. */
function certificateStep(certificates: readonly string[]): Step {
  const ends = certificates.map((pem) => new X509Certificate(pem).validToDate.toISOString().slice(0, 10)).sort();
  return step('certificates', null, `Signing certificates: ${certificates.length}. Valid until: ${ends.join(', ')}.`);
}

/** Tries a SAML provider as far as is possible without a user: reads its metadata. */
export async function trySamlProvider(saml: SamlProviders, provider: SamlProvider): Promise<readonly Step[]> {
  try {
    const { entityId, entryPoint, certificates } = await saml.describe(provider);
    return [step('metadata', null, `The provider is ${entityId}. Browsers are sent to ${entryPoint}.`), certificateStep(certificates)];
  } catch (cause) {
    if (cause instanceof ProviderUnavailable || cause instanceof ProviderRefused) return [step('metadata', cause.message)];
    throw cause;
  }
}
