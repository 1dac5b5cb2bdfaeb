import { useEffect, useState } from 'preact/hooks';
import type { LinkPermissions } from '#visitor/offered-permissions.ts';
import type { Prompt } from '#visitor/prompt-dialog.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { deletePrompt, newFolderPrompt, renamePrompt } from './prompts.ts';
import type { FolderEntry } from './use-folder.ts';

/** Returns what the visitor can do with the entries of a folder: select, rename and delete them, and create folders. */
export function useEntryActions(path: readonly string[], can: LinkPermissions) {
  const { translate } = useTranslation();
  const [prompt, setPrompt] = useState<Prompt | null>(null);
  /** The sizes of the selected entries, by name. */
  const [selection, setSelection] = useState<ReadonlyMap<string, number>>(new Map());
  useEffect(() => setSelection(new Map()), [path.join('/')]);
  /** Opens a prompt that also deselects the entry, because its name no longer exists afterwards. */
  function openPrompt(entryPrompt: Prompt, { name }: FolderEntry): void {
    const run = async (value: string) => {
      await entryPrompt.run(value);
      setSelection((before) => new Map([...before].filter(([selectedName]) => selectedName !== name)));
    };
    setPrompt({ ...entryPrompt, run });
  }
  const actions = {
    can,
    canSelect: can.downloadFolder,
    toggleSelection({ name, size }: FolderEntry) {
      const newSelection = new Map(selection);
      if (!newSelection.delete(name)) newSelection.set(name, size);
      setSelection(newSelection);
    },
    rename: (entry: FolderEntry) => openPrompt(renamePrompt(translate, path, entry), entry),
    remove: (entry: FolderEntry) => openPrompt(deletePrompt(translate, path, entry), entry),
  };
  const createFolder = () => setPrompt(newFolderPrompt(translate, path));
  /** Closes a prompt, but not another one that the visitor has opened since. */
  const closePrompt = (closed: Prompt) => setPrompt((current) => (current === closed ? null : current));
  return { actions, createFolder, prompt, closePrompt, selection, setSelection };
}
