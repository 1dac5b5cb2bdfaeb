import { isNameTooLong, isReservedName } from '#core/item-path.ts';
import type { Visit } from '#core/records/visit.ts';
import { failureTexts } from '#core/translations/failure-messages.ts';
import type { Failure } from '#visitor/link-api.ts';
import { offered } from '#visitor/offered.ts';
import type { Speech } from './use-translation.ts';

type Share = NonNullable<Visit['share']>;

/** "You may look, download and upload until 31 March 2026 at 17:00." */
export function permissionSentence(share: Share, { say, format }: Speech): string {
  const { validityEndDate, folder } = share;
  const can = offered(share);
  const actions = [
    can.view ? say('look') : '',
    can.download || can.downloadFolder ? say('toDownload') : '',
    can.upload && folder ? say('toUpload') : '',
    can.upload && !folder ? say('toReplace') : '',
    can.createFolder ? say('makeFolders') : '',
    can.rename ? say('toRename') : '',
    can.delete ? say('toDelete') : '',
  ].filter(Boolean);
  if (actions.length === 0) return say('nothingAllowed');
  if (validityEndDate === null) return say('youMay', { actions: format.list(actions) });
  const { moment, wholeDay } = format.end(validityEndDate);
  return say(wholeDay ? 'youMayUntilDay' : 'youMayUntil', { actions: format.list(actions), moment });
}

/** "until the end of 31 March 2026". */
export function untilWords(instant: string, { say, format }: Speech): string {
  const { moment, wholeDay } = format.end(instant);
  return say(wholeDay ? 'untilDay' : 'until', { moment });
}

const protectedCodes = ['copyProtected', 'cannotBeMarked', 'markingUnavailable', 'signingUnavailable'];

/** What happened, and what to do next, in plain words. */
export function failureWords({ code, message }: Failure, { say }: Speech): { title: string; advice: string } {
  if (protectedCodes.includes(code)) return { title: say('permissionOff'), advice: say('protectedFiles') };
  const { title, next } = failureTexts(code);
  const detail = title === 'wentWrong' && message ? `${message} ` : '';
  return { title: say(title), advice: detail + say(next) };
}

/** Why a name is refused (core/item-path.ts, nameError). */
export function nameErrorText(name: string): 'nameTooLong' | 'nameKept' | 'nameWrong' {
  if (isNameTooLong(name)) return 'nameTooLong';
  return isReservedName(name) ? 'nameKept' : 'nameWrong';
}

/** Why a file was not taken, in one line. */
export function uploadWords(failure: Failure, name: string, speech: Speech): string {
  const { say } = speech;
  const lines: Record<string, string> = {
    itemExists: say('nameTaken'),
    itemStale: say('changedMeanwhile'),
    fileTooLarge: say('tooLarge'),
    permissionOff: say('mayNotUpload'),
    offline: say('connectionBroke'),
    folderUnmade: say('folderUnmade'),
    fileUnreadable: say('fileUnreadable'),
    pathMalformed: say(nameErrorText(name)),
  };
  return lines[failure.code] ?? failureWords(failure, speech).title;
}
