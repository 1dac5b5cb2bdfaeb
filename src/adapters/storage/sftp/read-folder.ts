import type { Stats } from 'ssh2';
import { maxListTime } from '#adapters/storage/objects/list-pages.ts';
import { ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import type { SftpConnections } from './sftp-connections.ts';
import { openFolderHandle } from './sftp-handle.ts';

const listedAhead = 4; // requests for further entries of a folder that are under way
/** Consecutive answers without an entry: an answer that lists only `.` and `..` seems empty. */
const maxEmptyAnswers = 10;

/** An entry of a folder as the server describes it. */
export interface FolderEntry {
  readonly name: string;
  readonly stats: Stats;
}

/**
 * Yields the entries of a folder in batches, which may be empty.
 * @param path absolute, at the server
 * @throws ItemNotFound; StorageUnavailable, also if the server takes too long: it could send its answers slowly, without end
 */
export async function* readSftpFolder(connections: SftpConnections, path: string): AsyncGenerator<readonly FolderEntry[]> {
  const folder = await openFolderHandle(connections, path);
  if (!folder) throw new ItemNotFound('there is no such folder');
  const requestEntries = () => {
    const answer = folder.session.readFolder(folder.id);
    answer.catch(() => {}); // the list can end before this answer is awaited
    return answer;
  };
  try {
    const answers = Array.from({ length: listedAhead }, requestEntries);
    let [emptyCount, waitTime] = [0, 0];
    for (let answer = answers.shift(); answer; answer = answers.shift()) {
      const since = connections.monotonic();
      const batch = await answer;
      if (!batch) return;
      waitTime += connections.monotonic() - since;
      if (waitTime > maxListTime) throw new StorageUnavailable('the server takes too long to list the folder');
      emptyCount = batch.length === 0 ? emptyCount + 1 : 0;
      if (emptyCount > maxEmptyAnswers) throw new StorageUnavailable('the server does not end a list of files');
      answers.push(requestEntries());
      yield batch.map(({ filename, attrs }) => ({ name: filename, stats: attrs }));
    }
  } finally {
    await folder.close();
  }
}
