import type * as Library from 'openid-client';
import { isSharedIssuer } from '#core/openid/issuer.ts';
import type { OpenIdClient } from '#ports/openid.ts';
import { ProviderRefused } from '#ports/provider-errors.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { providerError } from './provider-error.ts';
import { ProviderUnreachable } from './provider-request.ts';
import { TenantEntries } from './tenant-entries.ts';

const metadataLifetime = 3_600_000; // ms
const maxProviders = { all: 256, tenant: 32 }; // clients for which the metadata and keys of their provider are cached: up to 0.5 MiB each
const pauseAfterFailure = 3000; // ms after a failure during which no request of the same client is sent to its provider

/** Signature algorithms of ID tokens and logout tokens: asymmetric ones, so that the client secret is not enough to make a token. */
export const signatureAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** The metadata of a provider, and what requests to the provider need. */
export interface ProviderMetadata {
  readonly metadata: Library.ServerMetadata;
  readonly authenticate: Library.ClientAuth;
  /** Keys of the provider, in the form in which the library caches them. */
  keys?: Library.ExportedJWKSCache;
  /** A configuration of the library that only builds URLs. It sends no requests, so all sign-ins share it: creating one takes 0.1 ms. */
  urlBuilder?: Library.Configuration;
}

interface Entry {
  readonly provider: Promise<ProviderMetadata>;
  /** When the metadata must be read again; monotonic, ms. */
  readonly until: number;
  /** The last failure to reach the provider. Before its own `until` (monotonic, ms), its error is thrown again without a request. */
  failure?: { readonly error: Error; readonly until: number };
}

/** Reads the metadata of a provider. @throws ProviderRefused, or an error of the library */
export async function discover(
  library: typeof Library,
  client: OpenIdClient,
  authentication: ClientAuthentication,
  fetch: Library.CustomFetch,
): Promise<ProviderMetadata> {
  const authenticate = await authentication.methodOf(library, client);
  const { issuer, clientId } = client;
  const configuration = await library.discovery(new URL(issuer), clientId, undefined, authenticate, {
    execute: issuer.startsWith('http:') ? [library.allowInsecureRequests] : [],
    [library.customFetch]: fetch,
  });
  const metadata = configuration.serverMetadata();
  // Checks the issuer in the metadata, because the configured address may be spelled differently. A shared issuer would
  // sign in the users of all organizations.
  if (isSharedIssuer(metadata.issuer))
    throw new ProviderRefused('The issuer is shared by all organizations: enter the address of the issuer of your organization.');
  const signing = metadata['id_token_signing_alg_values_supported'];
  if (Array.isArray(signing) && !signing.some((algorithm) => signatureAlgorithms.includes(algorithm)))
    throw new ProviderRefused('The provider signs ID tokens with no algorithm that Postern accepts.');
  return { metadata, authenticate };
}

/** Returns a configuration of the library. Its requests are sent by `fetch`, which limits their time. */
export function configurationFor(
  library: typeof Library,
  { issuer, clientId }: OpenIdClient,
  { metadata, authenticate, keys }: ProviderMetadata,
  fetch: Library.CustomFetch,
): Library.Configuration {
  const configuration = new library.Configuration(metadata, clientId, undefined, authenticate);
  configuration[library.customFetch] = fetch;
  // Otherwise, the library trusts TLS alone and does not verify the signatures of ID tokens.
  library.enableNonRepudiationChecks(configuration);
  if (issuer.startsWith('http:')) library.allowInsecureRequests(configuration);
  if (keys) library.setJwksCache(configuration, keys);
  return configuration;
}

/**
 * Caches the metadata and keys of providers, separately for each client. The failure of one client affects no other client, not even
 * one of the same provider.
 */
export class ProviderCache {
  readonly #now: () => number;
  readonly #entries = new TenantEntries<Entry>(maxProviders);

  /** @param now returns a monotonic time in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Calls `send` with the metadata of a provider. The metadata is cached, and concurrent calls read it once. After a failure to get the
   * metadata or to reach the provider, calls for the same client fail for a few seconds without a request.
   * @param read reads the metadata
   * @throws ProviderUnavailable, ProviderRefused; the cause of a `TokenStoreError` that `send` throws
   */
  async request<T>(
    library: typeof Library,
    client: OpenIdClient,
    read: () => Promise<ProviderMetadata>,
    send: (provider: ProviderMetadata) => Promise<T>,
  ): Promise<T> {
    const entry = this.#entryOf(client, read);
    const { failure } = entry;
    if (failure && failure.until > this.#now()) throw failure.error;
    try {
      return await send(await entry.provider);
    } catch (cause) {
      const error = providerError(library, cause);
      if (error instanceof ProviderUnreachable) entry.failure = { error, until: this.#now() + pauseAfterFailure };
      throw error;
    }
  }

  #entryOf(client: OpenIdClient, read: () => Promise<ProviderMetadata>): Entry {
    const key = JSON.stringify([client.tid, client.issuer, client.clientId, client.clientAuth, client.clientSecret]);
    const cached = this.#entries.get(key);
    if (cached && cached.until > this.#now()) return cached;
    const provider = read();
    const entry: Entry = { provider, until: this.#now() + metadataLifetime };
    this.#entries.set(key, client.tid, entry);
    provider.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.set(key, client.tid, { provider, until: this.#now() + pauseAfterFailure });
    });
    return entry;
  }
}
