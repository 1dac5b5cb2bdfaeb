import { networkOf } from '#core/policy/address-range.ts';
import type { Groups } from '#features/turns.ts';

/** Who asks for a turn. */
export interface Asker {
  readonly viewId: string;
  readonly address: string;
}

/** Returns the groups that take turns: links, and within a link networks. */
export const groupsOf = ({ viewId, address }: Asker): Groups => [viewId, networkOf(address, 32, 64)];
