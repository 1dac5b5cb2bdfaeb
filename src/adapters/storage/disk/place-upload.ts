import { randomBytes } from 'node:crypto';
import { numberedName } from '#core/item-path.ts';
import type { UploadTarget } from '#ports/storage.ts';
import type { ModeAndGroup } from './mode-and-group.ts';
import type { OpenFolder } from './open-folders.ts';
import type { Placing, StagedUpload } from './staged-upload.ts';

const maxNumbered = 9; // highest number in a name; after that a random suffix, which is almost certainly free
const maxNames = 20;

/** Returns the names to try: first the name itself; for a drop box, then the name with numbers and random suffixes. */
function namesFor({ name, ifTaken }: UploadTarget): string[] {
  if (ifTaken !== 'number') return [name];
  const suffixOf = (attempt: number) => (attempt <= maxNumbered ? attempt : randomBytes(6).toString('base64url').toLowerCase());
  return Array.from({ length: maxNames }, (_, index) => (index === 0 ? name : numberedName(name, suffixOf(index + 1))));
}

/** Returns how an upload gets its name. */
export function placingOf(target: UploadTarget, modeAndGroup: ModeAndGroup): Placing {
  const replaces = typeof target.ifTaken === 'object' ? target.ifTaken.replaces : null;
  return { parent: target.parent, names: namesFor(target), replaces, modeAndGroup };
}

/** Puts a synced staging file in place, durably. @returns its name */
export async function placeDiskUpload(
  { threads, pages }: Pick<OpenFolder, 'threads' | 'pages'>,
  stagedUpload: StagedUpload,
  placing: Placing,
  client: UploadTarget['client'],
): Promise<string> {
  // The thread first checks that the location's path still leads to the open folder: otherwise nobody would find the file.
  const { name, folder } = await threads.changes.run('placeUpload', [stagedUpload, placing], { client }).finally(() => pages.clear());
  await threads.syncs.run('syncFolder', [folder], { client, always: true });
  return name;
}
