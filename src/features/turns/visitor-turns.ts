import { networkOf } from '#core/policy/address-range.ts';
import type { Groups } from './turns.ts';

/** Who asks for a turn. */
export interface Asker {
  readonly viewId: string;
  readonly address: string;
}

/** A network that one party may have, with many of the networks that take turns within it. */
export const wideNetworkOf = (address: string) => networkOf(address, 24, 48);

/** Returns what many who ask may have in common: the link, and a wide network. */
export const crowdsOf = ({ viewId, address }: Asker): readonly string[] => [`link ${viewId}`, `network ${wideNetworkOf(address)}`];

/** Returns the groups that take turns: links, and within a link networks. */
export const groupsOf = ({ viewId, address }: Asker): Groups => [viewId, networkOf(address, 32, 64)];

/** Returns whose turn a visitor's change takes. */
export const visitorAt = (address: string) => ({ visitor: wideNetworkOf(address) });
