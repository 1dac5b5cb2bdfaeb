import { hash, verify } from '@node-rs/argon2';
import { networkOf } from '#core/policy/address-range.ts';
import type { PasswordHash } from '#ports/password-hash.ts';
import { hashTurns, type Party } from './hash-turns.ts';

// RFC 9106's second choice, with less time: 50 to 70 ms on two cores. More makes sign-in slow, less makes guessing cheap.
const parameters = { memoryCost: 65_536, timeCost: 2, parallelism: 1 } as const;
const atOnce = 2; // the cores: more hashes at once take longer each and together

/** The networks that take turns: who has a wide one has 65,536 of the others within it. */
const networksOf = (address: string): Party => [networkOf(address, 24, 48), networkOf(address, 32, 64)];

/**
 * argon2id off the event loop, two at a time, networks in turn; of those that tenants set, one at a time: a place is left
 * for those who sign in.
 * @param cost of one hash: memory in KiB, passes over it, lanes
 */
export function argon2PasswordHash(cost: { memoryCost: number; timeCost: number; parallelism: number } = parameters): PasswordHash {
  const [all, ofTenants] = [hashTurns(atOnce), hashTurns(1)];
  let unknown: Promise<string> | undefined;

  async function verifyStored(stored: string | null, password: string): Promise<boolean> {
    unknown ??= hash('no password of anybody', cost).catch((cause: unknown) => {
      unknown = undefined;
      throw cause;
    });
    const right = await verify(stored ?? (await unknown), password);
    return right && stored !== null;
  }

  return {
    hash(password, setter) {
      const inTurn = (party: Party) => all.run(party, () => hash(password, cost));
      if (!('tid' in setter)) return inTurn(networksOf(setter.address));
      const tenant: Party = [`tenant ${setter.tid}`, ''];
      return ofTenants.run(tenant, () => inTurn(tenant));
    },
    inTurn: (address, attempt) => all.run(networksOf(address), () => attempt(verifyStored)),
    waiting: () => all.waiting() + ofTenants.waiting(),
  };
}
