import type { Ports } from '#ports/ports.ts';
import { openPending, sealPending } from './pending-sign-in.ts';

const purpose = 'permission to test a sign-in';

/** The login profile that an admin tests. */
interface TestToken {
  readonly tid: number;
  readonly profileId: number;
}

type SealPorts = Pick<Ports, 'vault' | 'clock'>;

/** Returns the token with which a browser may begin a test of a sign-in, for ten minutes. */
export const sealTestToken = (ports: SealPorts, token: TestToken): string => sealPending(ports, purpose, token);

/** Returns the login profile of a token, or null if the token is wrong or too old. */
export const openTestToken = (ports: SealPorts, sealed: string): TestToken | null => openPending<TestToken>(ports, purpose, sealed);
