import type { Translate } from '#core/translations/translate.ts';
import { createFolder, deleteItem, renameItem } from '#visitor/link-api.ts';
import type { Prompt } from '#visitor/prompt-dialog.tsx';
import type { FolderEntry } from './use-folder.ts';

export const newFolderPrompt = (translate: Translate, path: readonly string[]): Prompt => ({
  title: translate('newFolder'),
  text: '',
  value: '',
  action: translate('createButton'),
  isDestructive: false,
  run: (name) => createFolder([...path, name]),
});

export const renamePrompt = (translate: Translate, path: readonly string[], { name }: FolderEntry): Prompt => ({
  title: translate('renameNamed', { name }),
  text: '',
  value: name,
  action: translate('rename'),
  isDestructive: false,
  run: (newName) => renameItem([...path, name], newName),
});

export const deletePrompt = (translate: Translate, path: readonly string[], { name, folder }: FolderEntry): Prompt => ({
  title: translate('deleteFile', { name }),
  text: translate(folder ? 'deleteFolderText' : 'deleteFileText'),
  value: null,
  action: translate('delete'),
  isDestructive: true,
  run: () => deleteItem([...path, name]),
});
