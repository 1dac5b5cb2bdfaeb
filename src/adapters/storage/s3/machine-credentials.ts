import { type Expiring, TemporarySecret } from '#adapters/storage/objects/temporary-secret.ts';

const [timeout, maxRetries] = [1000, 2]; // ms for each request to the metadata service; how many times a failed one is repeated

export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

type TemporaryKey = AccessKey & Expiring;

/** Fetches the access key of the role of this machine: of its container (ECS), or of its EC2 instance. */
async function fetchFromMetadata(): Promise<TemporaryKey> {
  const { ENV_CMDS_FULL_URI, ENV_CMDS_RELATIVE_URI, fromContainerMetadata, fromInstanceMetadata } = await import(
    '@smithy/credential-provider-imds'
  );
  const isContainer = [ENV_CMDS_FULL_URI, ENV_CMDS_RELATIVE_URI].some((name) => process.env[name] !== undefined);
  const key = await (isContainer
    ? fromContainerMetadata({ timeout, maxRetries })()
    : fromInstanceMetadata({ timeout, maxRetries, ec2MetadataV1Disabled: true })());
  return { ...key, expires: key.expiration?.getTime() ?? null };
}

/** The temporary access key of the role of this machine. */
export class MachineCredentials {
  readonly #key: TemporarySecret<TemporaryKey>;

  /** @param now ms since the epoch @param fetchKey fetches a new key */
  constructor(now: () => number = Date.now, fetchKey: () => Promise<TemporaryKey> = fetchFromMetadata) {
    this.#key = new TemporarySecret(now, fetchKey, 'this machine has no role, or its metadata service does not respond');
  }

  /** Returns a valid key. @throws StorageUnavailable if the machine has no role, or its metadata service does not respond */
  get(): Promise<AccessKey> {
    return this.#key.get();
  }
}
