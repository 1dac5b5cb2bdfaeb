import { networkOf } from '#core/policy/address-range.ts';
import type { TurnGroups } from './turns.ts';

/** Who asks for a turn. */
export interface TurnVisitor {
  readonly viewId: string;
  readonly address: string;
}

/** A network that one party may have, with many of the networks that take turns within it. */
export const wideNetworkOf = (address: string) => networkOf(address, 24, 48);

/** Returns what many who ask may have in common: the link, and a wide network. */
export const crowdsOf = ({ viewId, address }: TurnVisitor): readonly string[] => [`link ${viewId}`, `network ${wideNetworkOf(address)}`];

/** Returns the groups that take turns: links, and within a link networks. */
export const turnGroupsOf = ({ viewId, address }: TurnVisitor): TurnGroups => [viewId, networkOf(address, 32, 64)];

/** Returns whose turn a visitor's change takes. */
export const visitorTurn = (address: string) => ({ visitor: wideNetworkOf(address) });
