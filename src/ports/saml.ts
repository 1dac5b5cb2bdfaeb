import type { SamlConfiguration } from '#core/records/saml-configuration.ts';
import type { StatedUser } from '#core/saml/identity-of-statement.ts';
import type { ServiceProvider } from '#core/saml/service-provider.ts';

/** How to reach a provider. */
export type SamlProvider = Pick<SamlConfiguration, 'metadataUrl' | 'metadata' | 'entityId' | 'entryPoint' | 'certificates'>;

/** What a provider says about a user: an assertion. Its signature, issuer, audience and time are verified. */
export interface SamlStatement extends StatedUser {
  /** ID of the assertion. The caller refuses a second use until `usedUntil`. */
  readonly id: string;
  /** ms since the epoch: after that, the assertion is too old. */
  readonly usedUntil: number;
  /** ID of the answered request. The caller checks that this browser has sent it. null: the sign-in began at the provider. */
  readonly inResponseTo: string | null;
  /** When the provider demands that the session ends; ms since the epoch; null: it does not say. */
  readonly sessionEnd: number | null;
}

/** For whom a response is read. Tenants take turns, and so do the networks from which the responses for a tenant come. */
export interface SamlReading {
  readonly tid: number;
  /** Wide network of the client. */
  readonly network: string;
  /** Waits for the turn of this sign-in, then calls `work` to read the response. Fetching the metadata of the provider takes no turn. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Signs users in at SAML providers (SAML 2.0, Web Browser SSO Profile). A request for metadata ends within five seconds. Metadata that
 * waits for five more seconds to be read is dropped, and a document that takes more than two seconds to read is refused.
 */
export interface SamlProviders extends AsyncDisposable {
  /** Returns the address to which the browser is sent, and the ID of the request in it. @throws ProviderUnavailable, ProviderRefused */
  begin(
    provider: SamlProvider,
    tid: number,
    self: ServiceProvider,
    relayState: string,
  ): Promise<{ readonly url: string; readonly requestId: string }>;
  /**
   * Verifies and reads the response that a browser has brought from the provider.
   * @param response base64, as the browser sends it
   * @throws ProviderUnavailable; ProviderRefused if the metadata of the provider is not valid; ResponseRefused if the response is not
   *   valid; what `inTurn` throws
   */
  read(provider: SamlProvider, reading: SamlReading, self: ServiceProvider, response: string): Promise<SamlStatement>;
  /** Returns the description of a provider. If the provider has metadata, reads it again. @throws ProviderUnavailable, ProviderRefused */
  describe(provider: SamlProvider, tid: number): Promise<ProviderDescription>;
}

/** A provider, as its metadata or the configuration describes it. */
export interface ProviderDescription {
  readonly entityId: string;
  /** Address to which browsers are sent. */
  readonly entryPoint: string;
  /** Signing certificates in PEM. */
  readonly certificates: readonly string[];
}
