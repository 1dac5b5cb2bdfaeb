import type { Clock } from '#ports/clock.ts';
import { changeTurns } from './change-turns.ts';
import { newSessions } from './new-sessions.ts';
import { uploadSlots } from './upload-slots.ts';
import { pageWriter } from './written-page.ts';
import { zipArchives } from './zip-archives.ts';

/** What bounds how much visitors do at one time. */
export const visitLimits = (clock: Clock) => ({
  archives: zipArchives(),
  changes: changeTurns(),
  uploads: uploadSlots(),
  newSessions: newSessions(clock),
  writePage: pageWriter(),
});
