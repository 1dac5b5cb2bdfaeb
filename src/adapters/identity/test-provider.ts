import type * as Library from 'openid-client';
import type { ProviderTest } from '#ports/openid.ts';
import { ProviderRefused } from '#ports/provider-errors.ts';
import { providerError } from './provider-error.ts';

/** A code that no provider has issued. If a provider refuses only the code, it has accepted the credentials of the client. */
const inventedCode = 'postern-tests-this-client';

/** Returns the number of keys in a key set (RFC 7517, 5); 0 also if the text is not a key set. */
function keyCountOf(text: string): number {
  try {
    const { keys }: { keys?: unknown } = JSON.parse(text);
    return Array.isArray(keys) ? keys.length : 0;
  } catch {
    return 0;
  }
}

/** Returns the number of keys that a provider publishes. @throws ProviderRefused if it publishes none; ProviderUnavailable */
async function countKeys(address: string | undefined, fetch: Library.CustomFetch): Promise<number> {
  if (address === undefined) throw new ProviderRefused('The metadata has no jwks_uri.');
  const response = await fetch(address, { method: 'GET', headers: { accept: 'application/json' }, body: undefined, redirect: 'manual' });
  const count = keyCountOf(await response.text());
  if (count === 0) throw new ProviderRefused('The address of the keys (jwks_uri) returned no keys.');
  return count;
}

/** Sends a token request with an invented code. @throws Error if the provider refuses the client or does not respond as expected */
async function tryClient(library: typeof Library, configuration: Library.Configuration, redirectUrl: string): Promise<void> {
  const returnUrl = new URL(redirectUrl);
  returnUrl.searchParams.set('code', inventedCode);
  returnUrl.searchParams.set('iss', configuration.serverMetadata().issuer);
  await library
    .authorizationCodeGrant(configuration, returnUrl, { pkceCodeVerifier: library.randomPKCECodeVerifier() })
    .catch((cause: unknown) => {
      if (!(cause instanceof library.ResponseBodyError && cause.error === 'invalid_grant')) throw cause;
    });
}

/**
 * Tries a client step by step.
 * @param discover reads the metadata
 * @param redirectUrl address to which browsers are sent back
 */
export async function testProvider(
  library: typeof Library,
  discover: () => Promise<Library.Configuration>,
  fetch: Library.CustomFetch,
  redirectUrl: string,
): Promise<readonly ProviderTest[]> {
  const tests: ProviderTest[] = [];
  const steps: Readonly<Record<ProviderTest['step'], (configuration: Library.Configuration) => Promise<string>>> = {
    metadata: async (configuration) => `The provider is ${configuration.serverMetadata().issuer}.`,
    keys: async (configuration) => `Keys that the provider publishes: ${await countKeys(configuration.serverMetadata().jwks_uri, fetch)}.`,
    async client(configuration) {
      await tryClient(library, configuration, redirectUrl);
      return 'The provider accepts the client with these settings.';
    },
  };
  let step: ProviderTest['step'] = 'metadata';
  try {
    const configuration = await discover();
    for (step of ['metadata', 'keys', 'client'] as const) tests.push({ step, passed: true, detail: await steps[step](configuration) });
  } catch (cause) {
    tests.push({ step, passed: false, detail: providerError(library, cause).message });
  }
  return tests;
}
