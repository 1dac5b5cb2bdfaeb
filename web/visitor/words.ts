import type { Visit } from '#core/records/visit.ts';
import { formatEnd } from '#kit/format.ts';
import type { Failure } from './link-api.ts';

type Share = NonNullable<Visit['share']>;

const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** "You may look, download and upload until 31 March 2026 at 17:00." */
export function permissionSentence({ can, validityEndDate, folder }: Share): string {
  const verbs = [
    can.view ? 'look' : '',
    can.download || can.downloadFolder ? 'download' : '',
    can.upload ? (folder ? 'upload' : 'replace the file') : '',
    can.createFolder ? 'make folders' : '',
    can.rename ? 'rename' : '',
    can.delete ? 'delete' : '',
  ].filter(Boolean);
  const until = validityEndDate ? ` until ${formatEnd(validityEndDate)}` : '';
  return verbs.length === 0 ? `There is nothing you may do here${until}.` : `You may ${list.format(verbs)}${until}.`;
}

const titles: Record<string, [string, string]> = {
  offline: ['No connection', 'Check your connection, then try again.'],
  linkUnknown: ['There is no such link', 'Check that the address was copied whole, or ask whoever sent it for a new one.'],
  linkEnded: ['This link has ended', 'Ask whoever sent it for a new one.'],
  addressRefused: ['Not from this network', 'This link opens only from certain networks. Try again from the office or its VPN.'],
  notAdmitted: ['This link is for others', 'You are signed in, but this link does not admit you. Ask whoever sent it.'],
  permissionOff: ['That is not allowed here', 'Ask whoever sent the link if you need it.'],
  itemAbsent: ['It is not there any more', 'It may have been renamed or removed.'],
  storageAway: ['The files cannot be reached just now', 'Nothing is lost. Try again in a few minutes.'],
  storageFull: ['There is no room left', 'Tell whoever sent the link.'],
  tooManyFailures: ['Too many attempts', 'Wait a little, then try again.'],
  signInUnavailable: ['This way to sign in is not available yet', 'Ask whoever sent the link.'],
};

/** What happened, and what to do next, in plain words. */
export function failureWords({ code, message }: Failure): { title: string; advice: string } {
  const [title, advice] = titles[code] ?? ['That did not work', message];
  return { title, advice };
}

/** Why a file was not taken, in one line. */
export function uploadWords({ code, message }: Failure): string {
  const lines: Record<string, string> = {
    itemExists: 'A file of that name is already there.',
    fileTooLarge: 'Larger than is accepted here.',
    storageFull: 'There is no room left.',
    permissionOff: 'You may not upload here.',
    offline: 'The connection broke.',
  };
  return lines[code] ?? message;
}
