import { networkOf } from '#core/authorization/address-range.ts';
import type { TurnGroups } from './turns.ts';

/** A visitor who waits for a turn. */
export interface TurnVisitor {
  readonly viewId: string;
  readonly address: string;
}

/** Returns the wide network of an address (IPv4 /24, IPv6 /48). One organisation may own it, with many smaller networks. */
export const wideNetworkOf = (address: string) => networkOf(address, 24, 48);

/** Returns the large groups that a visitor shares with others: the link and the wide network. */
export const largeGroupsOf = ({ viewId, address }: TurnVisitor): readonly string[] => [
  `link ${viewId}`,
  `network ${wideNetworkOf(address)}`,
];

/** Returns the groups that take turns: links, and networks within a link. */
export const turnGroupsOf = ({ viewId, address }: TurnVisitor): TurnGroups => [viewId, networkOf(address, 32, 64)];

/** Returns the write turn of a visitor's change. */
export const visitorTurn = (address: string) => ({ visitor: wideNetworkOf(address) });
