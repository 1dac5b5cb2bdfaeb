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
  /** Takes no item of the group until it is resumed. */
  pause(group: string): void;
  resume(group: string): void;
  /** The groups of which items wait, those that are paused too. */
  groups(): string[];
  /** Is there no item to take? */
  isEmpty(): boolean;
}

interface Group<Item> {
  readonly items: Item[];
  cost: number;
  paused: boolean;
}

export function costQueue<Item>(): CostQueue<Item> {
  const groups = new Map<string, Group<Item>>();
  /**
   * What a group has cost that comes now: time without items is no credit for later. It rises with all that is charged,
   * a part for each group that waits: ever new groups do not come before one that has had its first turn.
   */
  let floor = 0;
  let waiting = 0; // groups of which items wait to be taken
  function groupOf(name: string): Group<Item> {
    const group = groups.get(name) ?? { items: [], cost: floor, paused: false };
    groups.set(name, group);
    return group;
  }
  /** Begins to count a group of which items wait. */
  function count(group: Group<Item>): void {
    group.cost = Math.max(group.cost, floor);
    waiting += 1;
  }
  function cheapest(): Group<Item> | undefined {
    let next: Group<Item> | undefined;
    for (const [name, group] of groups)
      if (group.paused) continue;
      else if (group.items.length === 0) {
        if (group.cost <= floor) groups.delete(name);
      } else if (!next || group.cost < next.cost) next = group;
    return next;
  }
  return {
    add(name, item) {
      const group = groupOf(name);
      if (group.items.length === 0 && !group.paused) count(group);
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
    pause(name) {
      const group = groupOf(name);
      if (group.items.length > 0 && !group.paused) waiting -= 1;
      group.paused = true;
    },
    resume(name) {
      const group = groupOf(name);
      if (group.items.length > 0 && group.paused) count(group);
      group.paused = false;
    },
    groups: () => [...groups].flatMap(([name, { items }]) => (items.length > 0 ? [name] : [])),
    isEmpty: () => waiting === 0,
  };
}
