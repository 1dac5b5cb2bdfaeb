/**
 * Waiting items of several groups, taken in turns by what they cost: the next item is the first of the group that has
 * cost least. A group with many cheap items does not wait for one with a few expensive ones.
 */
export interface CostQueue<Item> {
  add(group: string, item: Item): void;
  /** The next item, or undefined where none waits. */
  take(): Item | undefined;
  /** Adds what an item of the group has cost, in any unit. */
  charge(group: string, cost: number): void;
  /** The groups of which items wait. */
  groups(): string[];
  /** Does no item wait? */
  isEmpty(): boolean;
}

interface Group<Item> {
  readonly items: Item[];
  cost: number;
}

export function costQueue<Item>(): CostQueue<Item> {
  const groups = new Map<string, Group<Item>>();
  /**
   * What a group has cost that comes now: time without items is no credit for later. It rises with all that is charged,
   * a part for each group that waits: ever new groups do not come before one that has had its first turn.
   */
  let floor = 0;
  let waiting = 0; // groups of which items wait
  function cheapest(): Group<Item> | undefined {
    let next: Group<Item> | undefined;
    for (const [name, group] of groups)
      if (group.items.length === 0) {
        if (group.cost <= floor) groups.delete(name);
      } else if (!next || group.cost < next.cost) next = group;
    return next;
  }
  return {
    add(name, item) {
      const group = groups.get(name) ?? { items: [], cost: floor };
      groups.set(name, group);
      if (group.items.length === 0) {
        group.cost = Math.max(group.cost, floor);
        waiting += 1;
      }
      group.items.push(item);
    },
    take() {
      const group = cheapest();
      if (!group) return undefined;
      floor = Math.max(floor, group.cost);
      if (group.items.length === 1) waiting -= 1;
      return group.items.shift();
    },
    charge(name, cost) {
      const group = groups.get(name);
      if (group) group.cost += cost;
      floor += cost / Math.max(1, waiting);
    },
    groups: () => [...groups].flatMap(([name, { items }]) => (items.length > 0 ? [name] : [])),
    isEmpty: () => waiting === 0,
  };
}
