/** A queue whose groups take turns. Groups may contain groups, which take turns within them. */
export interface FairQueue<Item> {
  /**
   * Adds an item that does not wait in its groups yet.
   * @param groups names of the groups that contain the item, the outermost first
   */
  add(groups: readonly string[], item: Item): void;
  /**
   * Removes and returns the next item, or undefined if there is none, or if the groups of all items are blocked.
   * @param isBlocked returns whether a group may not have its turn now. It gets the names of the groups, the outermost first
   */
  take(isBlocked?: (groups: readonly string[]) => boolean): Item | undefined;
  /** Removes a waiting item. @returns false if the item was not waiting */
  remove(groups: readonly string[], item: Item): boolean;
  /** Returns the number of items that wait in a group, including those in its inner groups. */
  count(groups: readonly string[]): number;
}

interface Group<Item> {
  readonly inner: Map<string, Group<Item>>;
  readonly items: Set<Item>;
  count: number;
}

const emptyGroup = <Item>(): Group<Item> => ({ inner: new Map(), items: new Set(), count: 0 });

/** Returns the groups from the outermost to the named one, as far as they exist. */
function findPath<Item>(root: Group<Item>, names: readonly string[]): Group<Item>[] {
  const path = [root];
  for (const name of names) {
    const next = path.at(-1)?.inner.get(name);
    if (!next) break;
    path.push(next);
  }
  return path;
}

function takeFrom<Item>(group: Group<Item>, isBlocked: (groups: readonly string[]) => boolean, names: readonly string[]): Item | undefined {
  if (group.inner.size === 0) {
    const [item] = group.items;
    if (item !== undefined && group.items.delete(item)) group.count -= 1;
    return item;
  }
  for (const [name, inner] of group.inner) {
    const innerNames = [...names, name];
    const item = isBlocked(innerNames) ? undefined : takeFrom(inner, isBlocked, innerNames);
    if (item === undefined) continue;
    group.count -= 1;
    // Moves the group to the end of the map: its next turn comes after the turns of all others.
    group.inner.delete(name);
    if (inner.count > 0) group.inner.set(name, inner);
    return item;
  }
  return undefined;
}

/** Returns an empty queue. All items of one queue must name the same number of groups. */
export function fairQueue<Item>(): FairQueue<Item> {
  const root = emptyGroup<Item>();
  return {
    add(groups, item) {
      let group = root;
      group.count += 1;
      for (const name of groups) {
        const inner = group.inner.get(name) ?? emptyGroup();
        group.inner.set(name, inner);
        inner.count += 1;
        group = inner;
      }
      group.items.add(item);
    },
    take: (isBlocked = () => false) => takeFrom(root, isBlocked, []),
    remove(groups, item) {
      const path = findPath(root, groups);
      const last = path.at(-1);
      if (path.length <= groups.length || !last?.items.delete(item)) return false;
      for (const [depth, group] of path.entries()) {
        group.count -= 1;
        if (group.count === 0) path[depth - 1]?.inner.delete(groups[depth - 1] ?? '');
      }
      return true;
    },
    count(groups) {
      const path = findPath(root, groups);
      return path.length > groups.length ? (path.at(-1)?.count ?? 0) : 0;
    },
  };
}
