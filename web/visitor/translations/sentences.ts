import { isNameTooLong, isReservedName } from '#core/item-path.ts';
import type { Visit } from '#core/records/visit.ts';
import { failureMessageKeys } from '#core/translations/failure-messages.ts';
import type { Failure } from '#visitor/link-api.ts';
import { offeredPermissions } from '#visitor/offered-permissions.ts';
import type { Translation } from './use-translation.ts';

type Share = NonNullable<Visit['share']>;

/** Returns the permissions as a sentence: "You can view, download and upload until 31 March 2026 at 17:00." */
export function permissionSentence(share: Share, { translate, format }: Translation): string {
  const { validityEndDate, folder } = share;
  const can = offeredPermissions(share);
  const actions = [
    can.view ? translate('toView') : '',
    can.download || can.downloadFolder ? translate('toDownload') : '',
    can.upload && folder ? translate('toUpload') : '',
    can.upload && !folder ? translate('toReplace') : '',
    can.createFolder ? translate('createFolders') : '',
    can.rename ? translate('toRename') : '',
    can.delete ? translate('toDelete') : '',
  ].filter(Boolean);
  if (actions.length === 0) return translate('nothingAllowed');
  if (validityEndDate === null) return translate('youMay', { actions: format.list(actions) });
  const { moment, endsWithDay } = format.end(validityEndDate);
  return translate(endsWithDay ? 'youMayUntilDay' : 'youMayUntil', { actions: format.list(actions), moment });
}

/** Returns the end of a validity period: "until the end of 31 March 2026". */
export function untilText(instant: string, { translate, format }: Translation): string {
  const { moment, endsWithDay } = format.end(instant);
  return translate(endsWithDay ? 'untilDay' : 'until', { moment });
}

const protectedCodes = ['copyProtected', 'cannotBeMarked'];

/** Returns the texts for a failure: what happened, and what to do next. */
export function describeFailure({ code }: Pick<Failure, 'code'>, { translate }: Translation): { title: string; advice: string } {
  if (protectedCodes.includes(code)) return { title: translate('permissionOff'), advice: translate('protectedFiles') };
  if (code === 'signingUnavailable') return { title: translate('permissionOff'), advice: translate('unsignedFiles') };
  const { title, next } = failureMessageKeys(code);
  return { title: translate(title), advice: translate(next) };
}

/** Returns the key of the text that says why a name is not allowed (core/item-path.ts). */
export function nameErrorKey(name: string): 'nameTooLong' | 'nameReserved' | 'nameWrong' {
  if (isNameTooLong(name)) return 'nameTooLong';
  return isReservedName(name) ? 'nameReserved' : 'nameWrong';
}

/** Returns why a file was not uploaded: one line, or two, of which the second says what to do next. */
export function describeUploadFailure(failure: Failure, name: string, translation: Translation): string {
  const { translate } = translation;
  const texts: Record<string, string> = {
    itemExists: translate('nameTaken'),
    itemStale: translate('changedMeanwhile'),
    fileTooLarge: translate('tooLarge'),
    permissionOff: translate('mayNotUpload'),
    offline: translate('connectionLost'),
    folderNotCreated: translate('folderNotCreated'),
    fileUnreadable: translate('fileUnreadable'),
    pathMalformed: translate(nameErrorKey(name)),
  };
  const { title, advice } = describeFailure(failure, translation);
  return texts[failure.code] ?? `${title}\n${advice}`;
}
