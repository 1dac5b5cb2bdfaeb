import type { Say } from '#core/translations/translate.ts';
import { createFolder, remove, rename } from '#visitor/link-api.ts';
import type { Question } from '#visitor/prompt-dialog.tsx';
import type { Entry } from './use-folder.ts';

export const newFolderQuestion = (say: Say, path: readonly string[]): Question => ({
  title: say('newFolder'),
  text: '',
  value: '',
  action: say('make'),
  loss: false,
  run: (name) => createFolder([...path, name]),
});

export const renameQuestion = (say: Say, path: readonly string[], { name }: Entry): Question => ({
  title: say('renameNamed', { name }),
  text: '',
  value: name,
  action: say('rename'),
  loss: false,
  run: (next) => rename([...path, name], next),
});

export const removeQuestion = (say: Say, path: readonly string[], { name, folder }: Entry): Question => ({
  title: say('deleteFile', { name }),
  text: say(folder ? 'deleteFolderText' : 'deleteFileText'),
  value: null,
  action: say('delete'),
  loss: true,
  run: () => remove([...path, name]),
});
