import { narrowNetworkOf, wideNetworkOf } from '#core/client-networks.ts';
import type { TurnGroups } from './turns.ts';

export interface TurnVisitor {
  readonly viewId: string;
  readonly address: string;
}

/** Returns the large groups that a visitor shares with others: the link and the wide network. */
export const largeGroupsOf = ({ viewId, address }: TurnVisitor): readonly string[] => [
  `link ${viewId}`,
  `network ${wideNetworkOf(address)}`,
];

/** Returns the groups that take turns: links, wide networks within a link, and networks within these. */
export const turnGroupsOf = ({ viewId, address }: TurnVisitor): TurnGroups => [viewId, wideNetworkOf(address), narrowNetworkOf(address)];

/** Returns the `WriteTurn` of a visitor's request that writes to the database, such as a change, a visit or a sign-in. */
export const visitorTurn = (address: string) => ({ visitor: wideNetworkOf(address) });
