import type { UploadTarget } from '#ports/storage.ts';
import type { FolderThreads } from './folder-threads.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import type { StagedUpload } from './staged-upload.ts';

/**
 * Deletes a staging file that a thread created after its caller got an error. If this fails, recovery or a sweep deletes the file.
 */
function discardLate({ data }: Pick<FolderThreads, 'data'>, upload: StagedUpload, client: UploadTarget['client']): void {
  data.run('discardUpload', [upload], { client, always: true }).catch(() => {});
}

/** Creates an empty staging file. @throws ItemNotFound (no such parent), StorageFull, StorageUnusable, StorageUnavailable */
export function createStagingFile(
  threads: Pick<FolderThreads, 'data'>,
  {
    target: { parent, size, client },
    token,
    floor,
  }: { readonly target: UploadTarget; readonly token: string; readonly floor: FreeSpaceFloor },
): Promise<StagedUpload> {
  return threads.data.run('openUpload', [parent, token, size, floor], {
    client,
    onLateResult: (upload) => discardLate(threads, upload, client),
  });
}
