import type * as Library from 'openid-client';
import type { ProviderTest } from '#ports/openid.ts';
import { providerError } from './provider-error.ts';

/** A code that no provider has issued. If a provider refuses the code but not the client, the settings of the client are right. */
const inventedCode = 'postern-tests-this-client';

/** Returns the number of keys that a provider publishes. @throws Error if it publishes none */
async function countKeys(address: string | undefined, fetch: Library.CustomFetch): Promise<number> {
  if (address === undefined) throw new Error('The metadata has no jwks_uri.');
  const response = await fetch(address, { method: 'GET', headers: { accept: 'application/json' }, body: undefined, redirect: 'manual' });
  const { keys }: { keys?: unknown } = JSON.parse(await response.text());
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('The provider publishes no keys.');
  return keys.length;
}

/** Sends a token request with an invented code. @throws Error if the provider refuses the client */
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
