import { hash, verify } from '@node-rs/argon2';
import { networksOf } from '#core/client-networks.ts';
import type { PasswordHash } from '#ports/password-hash.ts';
import { hashQueue, type QueueGroups } from './hash-turns.ts';

// The second recommended option of RFC 9106, but with two passes instead of three and one lane instead of four: 50 to 70 ms on two
// cores.
const parameters = { memoryCost: 65_536, timeCost: 2, parallelism: 1 } as const;
const maxConcurrent = 2; // for two cores: with more at once, each hash and all of them together take longer

/**
 * Computes argon2id hashes off the event loop, two at a time. Networks and tenants take turns. Passwords that keys and operators set are
 * hashed one at a time, so that they never take both cores.
 * @param cost of one hash: memory in KiB, passes over the memory, lanes
 */
export function argon2PasswordHash(cost: { memoryCost: number; timeCost: number; parallelism: number } = parameters): PasswordHash {
  const [allHashes, tenantHashes] = [hashQueue(maxConcurrent), hashQueue(1)];
  let dummyHash: Promise<string> | undefined;

  async function verifyStored(stored: string | null, password: string): Promise<boolean> {
    dummyHash ??= hash('no password of anybody', cost).catch((cause: unknown) => {
      dummyHash = undefined;
      throw cause;
    });
    // Without a stored hash, the check must take just as long. Otherwise, the response time would reveal that the user does not exist.
    const isCorrect = await verify(stored ?? (await dummyHash), password);
    return isCorrect && stored !== null;
  }

  return {
    hash(password, setter) {
      const inTurn = (groups: QueueGroups) => allHashes.run(groups, () => hash(password, cost));
      if (!('tid' in setter)) return inTurn(networksOf(setter.address));
      const groups: QueueGroups = [`tenant ${setter.tid}`, `${setter.kind} ${setter.id}`];
      return tenantHashes.run(groups, () => inTurn(groups));
    },
    runInTurn: (address, attempt) => allHashes.run(networksOf(address), () => attempt(verifyStored)),
    waitingCount: () => allHashes.waitingCount() + tenantHashes.waitingCount(),
  };
}
