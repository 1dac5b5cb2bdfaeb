import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { authnRequest, type ServiceProvider } from '#core/saml/service-provider.ts';
import type { Outbound } from '#ports/outbound.ts';
import { ProviderRefused, ResponseInvalid, ResponseRefused } from '#ports/provider-errors.ts';
import type { ProviderDescription, SamlProvider, SamlProviders, SamlReading, SamlStatement } from '#ports/saml.ts';
import { type Clocks, ProviderDescriptions } from './provider-descriptions.ts';
import { XmlReader } from './xml-reader.ts';

const deflate = promisify(deflateRaw);
const idBytes = 20; // SAML Core, 1.3.4: at least 128 bits

/**
 * Returns the address to which a browser is sent.
 * @throws ProviderRefused if it uses neither https nor http, or http although metadataUrl uses https
 */
function entryPointOf({ entryPoint }: ProviderDescription, { metadataUrl }: SamlProvider): URL {
  const url = URL.parse(entryPoint);
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && (metadataUrl ?? entryPoint).startsWith('http:'));
  if (url && isAllowed) return url;
  throw new ProviderRefused('The sign-in address of the provider does not begin with https://.');
}

/** Signs users in at SAML providers. Reads XML in threads, so that no document from outside blocks the event loop. */
export class ThreadedSamlProviders implements SamlProviders {
  readonly #clocks: Clocks;
  readonly #reader: XmlReader;
  readonly #descriptions: ProviderDescriptions;

  constructor(outbound: Pick<Outbound, 'request'>, clocks: Clocks) {
    this.#clocks = clocks;
    this.#reader = new XmlReader(clocks.monotonic);
    this.#descriptions = new ProviderDescriptions(outbound, this.#reader, clocks);
  }

  async begin(provider: SamlProvider, tid: number, self: ServiceProvider, relayState: string) {
    const url = entryPointOf(await this.#descriptions.get(provider, tid), provider);
    const requestId = `_${randomBytes(idBytes).toString('hex')}`;
    const request = authnRequest(self, url.href, requestId, this.#clocks.now());
    // HTTP-Redirect binding (SAML Bindings, 3.4.4.1).
    url.searchParams.set('SAMLRequest', (await deflate(request)).toString('base64'));
    url.searchParams.set('RelayState', relayState);
    return { url: url.href, requestId };
  }

  async read(
    provider: SamlProvider,
    { tid, network, inTurn }: SamlReading,
    self: ServiceProvider,
    response: string,
  ): Promise<SamlStatement> {
    const current = await this.#descriptions.get(provider, tid);
    const readWith = ({ entityId: issuer, certificates }: ProviderDescription) =>
      inTurn(() => this.#reader.readResponse({ response, issuer, certificates, ...self, now: this.#clocks.now() }, tid, network));
    try {
      return await readWith(current).catch(async (cause: unknown) => {
        const newer = cause instanceof ResponseInvalid ? await this.#newerDescription(provider, tid, current) : null;
        if (!newer) throw cause;
        return readWith(newer);
      });
    } catch (cause) {
      throw cause instanceof ResponseInvalid ? new ResponseRefused(cause.message, { cause }) : cause;
    }
  }

  describe(provider: SamlProvider, tid: number): Promise<ProviderDescription> {
    return this.#descriptions.read(provider, tid, null);
  }

  async [Symbol.asyncDispose]() {
    await this.#reader[Symbol.asyncDispose]();
  }

  /** Reads the metadata again. @returns null if it was not read, or has no new certificate */
  async #newerDescription(provider: SamlProvider, tid: number, old: ProviderDescription): Promise<ProviderDescription | null> {
    const newer = await this.#descriptions.getNewer(provider, tid).catch(() => null);
    return newer?.certificates.some((certificate) => !old.certificates.includes(certificate)) ? newer : null;
  }
}
