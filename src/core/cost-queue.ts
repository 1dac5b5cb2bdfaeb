/**
 * A queue of several groups that shares cost fairly: the next item comes from the group that has cost least so far. A group
 * with many cheap items waits for at most one item of a group with expensive ones.
 */
export interface CostQueue<Item> {
  add(group: string, item: Item): void;
  /** Removes and returns the next item, or undefined if there is none to take. */
  take(): Item | undefined;
  /** Adds the cost of an item, in any unit, to its group. */
  charge(group: string, cost: number): void;
  /** Holds back all items of the group until it is resumed. */
  pause(group: string): void;
  resume(group: string): void;
  /** Returns the names of the groups that have waiting items, paused groups included. */
  groups(): string[];
  /** Returns whether there is no item to take. Items of paused groups do not count. */
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
   * The cost at which a group starts or comes back, so that an idle group collects no credit. Each charge raises it by
   * the cost divided by the number of waiting groups. Otherwise new groups could always come before a group that has had its first turn.
   */
  let minCost = 0;
  let waitingGroups = 0; // groups that have items to take
  function getOrCreateGroup(name: string): Group<Item> {
    const group = groups.get(name) ?? { items: [], cost: minCost, paused: false };
    groups.set(name, group);
    return group;
  }
  function addWaitingGroup(group: Group<Item>): void {
    group.cost = Math.max(group.cost, minCost);
    waitingGroups += 1;
  }
  /**
   * Returns the group with the lowest cost that has items to take. Deletes idle groups that would come back at `minCost`: a new group
   * starts at the same cost.
   */
  function findCheapestGroup(): Group<Item> | undefined {
    let cheapest: Group<Item> | undefined;
    for (const [name, group] of groups)
      if (group.paused) continue;
      else if (group.items.length === 0) {
        if (group.cost <= minCost) groups.delete(name);
      } else if (!cheapest || group.cost < cheapest.cost) cheapest = group;
    return cheapest;
  }
  return {
    add(name, item) {
      const group = getOrCreateGroup(name);
      if (group.items.length === 0 && !group.paused) addWaitingGroup(group);
      group.items.push(item);
    },
    take() {
      const group = findCheapestGroup();
      if (!group) return undefined;
      minCost = Math.max(minCost, group.cost);
      if (group.items.length === 1) waitingGroups -= 1;
      return group.items.shift();
    },
    charge(name, cost) {
      getOrCreateGroup(name).cost += cost; // `take` may have deleted the group while its last item was running
      minCost += cost / Math.max(1, waitingGroups);
    },
    pause(name) {
      const group = getOrCreateGroup(name);
      if (group.items.length > 0 && !group.paused) waitingGroups -= 1;
      group.paused = true;
    },
    resume(name) {
      const group = getOrCreateGroup(name);
      if (group.items.length > 0 && group.paused) addWaitingGroup(group);
      group.paused = false;
    },
    groups: () => [...groups].flatMap(([name, { items }]) => (items.length > 0 ? [name] : [])),
    isEmpty: () => waitingGroups === 0,
  };
}
