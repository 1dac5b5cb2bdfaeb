import type { FileToUpload } from './upload-item.ts';

const readEntries = (reader: FileSystemDirectoryReader) =>
  new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
const readFile = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

/** Returns the files of an entry, at any depth. A file or folder that cannot be read is marked as unreadable. */
async function walk(entry: FileSystemEntry, folder: readonly string[]): Promise<FileToUpload[]> {
  const uploads: FileToUpload[] = [];
  try {
    if (isFile(entry)) return [{ file: await readFile(entry), folder }];
    if (!isFolder(entry)) return [];
    const reader = entry.createReader();
    // readEntries returns up to 100 entries per call, and none at the end.
    for (let entries = await readEntries(reader); entries.length > 0; entries = await readEntries(reader))
      for (const child of entries) uploads.push(...(await walk(child, [...folder, entry.name])));
    return uploads;
  } catch {
    return [...uploads, { file: new File([], entry.name), folder, unreadable: true }];
  }
}

/** Returns all dropped files, including those in dropped folders. Call it during the event: the browser clears the items after it. */
export async function filesOfDrop(transfer: DataTransfer): Promise<FileToUpload[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry());
  const files = [...transfer.files];
  if (entries.some((entry) => entry === null)) return files.map((file) => ({ file, folder: [] }));
  const uploads = await Promise.all(entries.map((entry) => (entry ? walk(entry, []) : [])));
  return uploads.flat();
}

/** Returns the files of a file input, with their folders if a folder was chosen. */
export const filesOfInput = (files: FileList | null): FileToUpload[] =>
  [...(files ?? [])].map((file) => ({ file, folder: file.webkitRelativePath.split('/').slice(0, -1) }));
