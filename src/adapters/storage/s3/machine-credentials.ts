import { StorageUnavailable } from '#ports/storage.ts';

const [timeout, maxRetries] = [1000, 2]; // ms for a request to the metadata service
const minRemaining = 300_000; // ms: credentials are fetched again that long before they expire

/** What signs requests to a service. */
export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** An access key, and when it expires. */
interface TemporaryKey extends AccessKey {
  readonly expiration?: Date | undefined;
}

/** Fetches the access key of the role of this machine: of its container (ECS), or of its EC2 instance. */
async function fetchFromMetadata(): Promise<TemporaryKey> {
  const { ENV_CMDS_FULL_URI, ENV_CMDS_RELATIVE_URI, fromContainerMetadata, fromInstanceMetadata } = await import(
    '@smithy/credential-provider-imds'
  );
  const isContainer = [ENV_CMDS_FULL_URI, ENV_CMDS_RELATIVE_URI].some((name) => process.env[name] !== undefined);
  return isContainer
    ? fromContainerMetadata({ timeout, maxRetries })()
    : fromInstanceMetadata({ timeout, maxRetries, ec2MetadataV1Disabled: true })();
}

/** The temporary access key of the role of this machine. One is shared by all requests until it expires. */
export class MachineCredentials {
  readonly #now: () => number;
  readonly #fetchKey: () => Promise<TemporaryKey>;
  #current: Promise<TemporaryKey> | null = null;

  /** @param now ms since the epoch @param fetchKey fetches a new key */
  constructor(now: () => number = Date.now, fetchKey = fetchFromMetadata) {
    this.#now = now;
    this.#fetchKey = fetchKey;
  }

  /** Returns a valid key. @throws StorageUnavailable if the machine has no role */
  async get(): Promise<AccessKey> {
    const current = await this.#fetch();
    if (current.expiration === undefined || current.expiration.getTime() - this.#now() > minRemaining) return current;
    this.#current = null;
    return this.#fetch();
  }

  async #fetch(): Promise<TemporaryKey> {
    this.#current ??= this.#fetchKey();
    try {
      return await this.#current;
    } catch (cause) {
      this.#current = null;
      throw new StorageUnavailable('this machine has no role, or its metadata service does not respond', { cause });
    }
  }
}
