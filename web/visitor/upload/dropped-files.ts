import type { Upload } from './uploads.ts';

const entriesOf = (reader: FileSystemDirectoryReader) =>
  new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

async function walk(entry: FileSystemEntry, folder: readonly string[]): Promise<Upload[]> {
  const found: Upload[] = [];
  try {
    if (isFile(entry)) return [{ file: await fileOf(entry), folder }];
    if (!isFolder(entry)) return [];
    const reader = entry.createReader();
    // A reader gives a hundred at a time, and none at the end.
    for (let entries = await entriesOf(reader); entries.length > 0; entries = await entriesOf(reader))
      for (const one of entries) found.push(...(await walk(one, [...folder, entry.name])));
    return found;
  } catch {
    return [...found, { file: new File([], entry.name), folder, unreadable: true }];
  }
}

/** Everything that was dropped, whole folders too. The items are read at once: after the event they are gone. */
export async function droppedFiles(transfer: DataTransfer): Promise<Upload[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry());
  const files = [...transfer.files];
  if (entries.some((entry) => entry === null)) return files.map((file) => ({ file, folder: [] }));
  const found = await Promise.all(entries.map((entry) => (entry ? walk(entry, []) : [])));
  return found.flat();
}

/** What was chosen, with the folders that a choice of a folder names. */
export const chosenFiles = (files: FileList | null): Upload[] =>
  [...(files ?? [])].map((file) => ({ file, folder: file.webkitRelativePath.split('/').slice(0, -1) }));
