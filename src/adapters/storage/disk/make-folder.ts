import fs from 'node:fs';
import { lookAt, type Spot, where } from './aside.ts';
import { failure } from './disk-errors.ts';
import { confirmMark, isConfirmed, type Marks, markText, takeName } from './marks.ts';

/** Makes a folder under a free name. @throws EEXIST */
export function makeFolder(folder: Spot, marks: Marks): void {
  if (lookAt(folder)) throw failure('EEXIST');
  takeName(marks, 'folder');
  fs.mkdirSync(where(folder), 0o700);
  confirmMark(marks.own);
}

/** Was the folder made before the crash? Its name was free when its mark was made. */
export const wasFolderMade = (folder: Spot, mark: Spot) => isConfirmed(mark) || (markText(mark) !== null && lookAt(folder) !== undefined);
