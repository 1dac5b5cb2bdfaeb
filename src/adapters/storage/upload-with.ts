import type { Upload } from '#ports/storage.ts';

/** Returns an upload with some methods replaced. */
export const uploadWith = (upload: Upload, methods: Partial<Omit<Upload, 'handle'>>): Upload => ({
  handle: upload.handle,
  write: (chunk) => upload.write(chunk),
  sync: () => upload.sync(),
  place: (confirm, lockName) => upload.place(confirm, lockName),
  discard: () => upload.discard(),
  closeForRecovery: () => upload.closeForRecovery(),
  ...methods,
});
