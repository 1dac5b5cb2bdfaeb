import type { ItemServer, MoveOutcome, ServerEntry } from '#adapters/storage/moves/item-server.ts';
import { ItemExists } from '#ports/storage-errors.ts';

/** Returns the key of a path among the items of the fake server. */
export const keyOf = (path: readonly string[]) => path.join('/');

/** A fake server in memory. It can get the request for a move late, after the connection was lost. */
export class FakeItemServer implements ItemServer {
  readonly maxWorkTimes = { move: 60_000, newFile: () => 60_000 };
  movesAtOnce = true;
  readonly items = new Map<string, string | null>(); // null: a folder
  /** When items were written, for those whose time matters. */
  readonly times = new Map<string, number>();
  /** The moves that have not reached the server yet. */
  readonly late: (() => MoveOutcome)[] = [];
  /** How many further moves arrive late. */
  lateMoves = 0;

  async find(path: readonly string[]): Promise<ServerEntry | null> {
    const content = this.items.get(keyOf(path));
    if (content === undefined) return path.length === 0 ? { name: '', folder: true, size: 0, modified: 0, etag: '' } : null;
    const [folder, size] = [content === null, content?.length ?? 0];
    return {
      name: path.at(-1) ?? '',
      folder,
      size,
      modified: this.times.get(keyOf(path)) ?? 0,
      etag: `W/"${content}"`,
      isEmpty: size === 0,
    };
  }

  async *list(path: readonly string[]): AsyncGenerator<readonly ServerEntry[]> {
    const prefix = `${keyOf(path)}/`;
    const entries = await Promise.all(
      [...this.items.keys()].filter((key) => key.startsWith(prefix)).map((key) => this.find(key.split('/'))),
    );
    yield entries.flatMap((entry) => entry ?? []);
  }

  async isPart(path: readonly string[], _size: number, whole: readonly string[]): Promise<boolean> {
    return this.items.get(keyOf(whole))?.startsWith(this.items.get(keyOf(path)) ?? '') ?? false;
  }

  async readText(path: readonly string[]): Promise<string | null> {
    return this.items.get(keyOf(path)) ?? null;
  }

  async writeText(path: readonly string[], text: string): Promise<boolean> {
    this.items.set(keyOf(path), text);
    return true;
  }

  async createFolder(path: readonly string[]): Promise<boolean> {
    this.items.set(keyOf(path), null);
    return true;
  }

  async createStagingFolder(path: readonly string[]): Promise<void> {
    await this.createFolder(path);
  }

  async move(from: readonly string[], to: readonly string[], { overwrites }: { readonly overwrites: boolean }): Promise<MoveOutcome> {
    const move = () => this.#move(keyOf(from), keyOf(to), overwrites);
    if (this.lateMoves === 0) return move();
    this.lateMoves -= 1;
    this.late.push(move);
    return 'lost';
  }

  #move(from: string, to: string, overwrites: boolean): MoveOutcome {
    const item = this.items.get(from);
    if (item === undefined || (this.items.has(to) && !overwrites)) return new ItemExists('the name is taken, or there is no such item');
    this.items.delete(from);
    this.items.set(to, item);
    return 'moved';
  }

  async delete(path: readonly string[]): Promise<void> {
    this.items.delete(keyOf(path));
  }
}
