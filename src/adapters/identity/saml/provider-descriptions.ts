import { requestProvider } from '#adapters/identity/provider-request.ts';
import { TenantEntries } from '#adapters/identity/tenant-entries.ts';
import { addCount } from '#core/count-by-key.ts';
import type { Outbound } from '#ports/outbound.ts';
import { ProviderRefused, ProviderUnavailable } from '#ports/provider-errors.ts';
import type { ProviderDescription, SamlProvider } from '#ports/saml.ts';
import type { XmlReader } from './xml-reader.ts';

const lifetime = 24 * 3_600_000; // ms
const maxLifetime = 2 * lifetime; // while the provider does not respond
const minPause = 60_000; // ms between two readings after refused responses, or while an old description is used
const pauseAfterFailure = 3000; // ms until the next request for metadata that could not be read or was refused
const maxProviders = { all: 256, tenant: 256 }; // whose descriptions are cached
/** Maximum number of concurrent readings. A reading lasts from the request until the XML is read. Its text takes up to 2 MiB of memory. */
const maxReadings = { all: 16, tenant: 4 };
const maxMetadata = 1 << 20; // bytes
const timeLimit = 4500; // ms

/** Clocks: `now` returns ms since the epoch, `monotonic` returns ms of a monotonic clock. */
export interface Clocks {
  now(): number;
  monotonic(): number;
}

/** Too much metadata is being read. */
class TooManyReadings extends ProviderUnavailable {}

interface Entry {
  readonly description: Promise<ProviderDescription>;
  /** The last description that was read. Stays after failures, because newer metadata must have the same entity ID. */
  lastDescription: ProviderDescription | undefined;
  /** When the last reading of the metadata began. All times of an entry are monotonic, in ms. */
  readonly requestedAt: number;
  /** From this time on, the next request reads the metadata again. */
  until: number;
  /** Until when `lastDescription` may be used while the provider does not respond. */
  usableUntil: number;
}

/** Describes providers by their metadata, which is read again each day. A provider that does not respond affects its own profiles alone. */
export class ProviderDescriptions {
  readonly #outbound: Pick<Outbound, 'request'>;
  readonly #reader: Pick<XmlReader, 'readMetadata'>;
  readonly #clocks: Clocks;
  /** Entries whose reading has ended. */
  readonly #entries = new TenantEntries<Entry>(maxProviders);
  /** Entries that are being read. They are never evicted: otherwise, the next request would read the same metadata once more. */
  readonly #pendingEntries = new Map<string, Entry>();
  /** Number of readings in progress, by tenant. */
  readonly #readings = new Map<number, number>();

  constructor(outbound: Pick<Outbound, 'request'>, reader: Pick<XmlReader, 'readMetadata'>, clocks: Clocks) {
    this.#outbound = outbound;
    this.#reader = reader;
    this.#clocks = clocks;
  }

  /**
   * Returns the description of a provider of a tenant. Concurrent requests share one reading.
   * @throws ProviderUnavailable, ProviderRefused
   */
  get(provider: SamlProvider, tid: number): Promise<ProviderDescription> {
    const entry = this.#entryOf(keyOf(provider, tid));
    return entry && entry.until > this.#clocks.monotonic() ? entry.description : this.#renew(provider, tid, entry);
  }

  /**
   * Reads the metadata again, because the provider may have new certificates. Does so at most once a minute,
   * so that nobody can cause more requests by sending invalid responses.
   * @returns the last description if the provider does not respond; null without `metadataUrl`, or if a reading began in the last minute
   * @throws ProviderUnavailable, ProviderRefused
   */
  async getNewer(provider: SamlProvider, tid: number): Promise<ProviderDescription | null> {
    const entry = this.#entryOf(keyOf(provider, tid));
    if (provider.metadataUrl === undefined || (entry && this.#clocks.monotonic() - entry.requestedAt < minPause)) return null;
    return this.#renew(provider, tid, entry);
  }

  /**
   * Reads the metadata of a provider.
   * @param expectedEntityId entity ID that the metadata must contain; null: it may contain each. `entityId` of the configuration takes precedence
   * @throws ProviderUnavailable, also if too much metadata is being read; ProviderRefused
   */
  async read(
    { metadataUrl, metadata, entityId, entryPoint, certificates }: SamlProvider,
    tid: number,
    expectedEntityId: string | null,
  ): Promise<ProviderDescription> {
    if (metadataUrl === undefined && metadata === undefined) {
      if (entityId === undefined || entryPoint === undefined || certificates === undefined)
        throw new ProviderRefused('The profile needs metadataUrl; or metadata; or entityId, entryPoint and certificates.');
      return { entityId, entryPoint, certificates };
    }
    return this.#withinLimits(tid, async () => {
      const xml = metadata ?? (await this.#request(new URL(metadataUrl ?? '')));
      return this.#reader.readMetadata({ xml, entityId: entityId ?? expectedEntityId, now: this.#clocks.now() }, tid);
    });
  }

  #entryOf(key: string): Entry | undefined {
    return this.#pendingEntries.get(key) ?? this.#entries.get(key);
  }

  /** @throws TooManyReadings */
  async #withinLimits<T>(tid: number, reading: () => Promise<T>): Promise<T> {
    const all = this.#readings.values().reduce((sum, count) => sum + count, 0);
    if (all >= maxReadings.all || (this.#readings.get(tid) ?? 0) >= maxReadings.tenant)
      throw new TooManyReadings('The metadata of too many SAML providers is being read. Try again in a few seconds.');
    addCount(this.#readings, tid, 1);
    try {
      return await reading();
    } finally {
      addCount(this.#readings, tid, -1);
    }
  }

  async #request(url: URL): Promise<string> {
    const options = { signal: AbortSignal.timeout(timeLimit) };
    const { status, content } = await requestProvider(this.#outbound, url, options, maxMetadata);
    if (status !== 200) throw new ProviderUnavailable(`${url.host} answered with status ${status} instead of metadata.`);
    return new TextDecoder().decode(content);
  }

  /** Reads the metadata, for the first time or again. Metadata with another entity ID than before is refused. */
  #renew(provider: SamlProvider, tid: number, old: Entry | undefined): Promise<ProviderDescription> {
    const key = keyOf(provider, tid);
    const now = this.#clocks.monotonic();
    const lastDescription = old?.lastDescription;
    const usableUntil = old?.usableUntil ?? now;
    const description = this.read(provider, tid, lastDescription?.entityId ?? null).catch((cause: unknown) => {
      // An old description is used for two days at most after it was read: the provider may have withdrawn a certificate.
      if (lastDescription && cause instanceof ProviderUnavailable && now < usableUntil) return lastDescription;
      throw cause;
    });
    const entry: Entry = { description, lastDescription, requestedAt: now, until: now + lifetime, usableUntil };
    this.#pendingEntries.set(key, entry);
    description.then(
      (newDescription) => {
        this.#pendingEntries.delete(key);
        this.#entries.set(key, tid, entry);
        if (newDescription === lastDescription) entry.until = this.#clocks.monotonic() + minPause;
        else Object.assign(entry, { lastDescription: newDescription, usableUntil: now + maxLifetime });
      },
      (cause: unknown) => {
        this.#pendingEntries.delete(key);
        if (cause instanceof TooManyReadings) return; // the next request tries again
        this.#entries.set(key, tid, entry);
        entry.until = this.#clocks.monotonic() + pauseAfterFailure;
      },
    );
    return description;
  }
}

const keyOf = ({ metadataUrl, metadata, entityId, entryPoint, certificates }: SamlProvider, tid: number) =>
  JSON.stringify([tid, metadataUrl, metadata, entityId, entryPoint, certificates]);
