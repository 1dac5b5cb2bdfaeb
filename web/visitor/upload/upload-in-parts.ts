import { asFailure, type Failure, offlineFailure, type UploadReceipt, upload } from '#visitor/link-api.ts';
import { announceUpload } from './running-uploads.ts';
import { beginUpload, endUpload, fetchState, sendPart } from './tus-requests.ts';
import { findUnfinishedUpload, forgetUnfinished, saveUnfinished } from './unfinished-uploads.ts';
import { uploadName } from './upload-item.ts';

/** Bytes. Larger files are sent in parts, unless they replace a file. */
export const maxSingleSize = 8 << 20;
const partSize = 64 << 20; // bytes: proxies limit the size of a body
const maxSilence = 30_000; // ms: if no bytes are sent for this time, the connection counts as lost, even if the browser reports no error
const [minPause, maxPause] = [1000, 30_000]; // ms between two attempts

const temporaryCodes = ['offline', 'uploadInUse', 'uploadOffsetWrong'];
const temporaryStatuses = [502, 503, 504];
/** Returns whether the upload continues by itself after a failure. */
const isTemporary = ({ code, status }: Failure) => temporaryCodes.includes(code) || temporaryStatuses.includes(status);

/** What an upload reports to the queue. */
export interface UploadEvents {
  /** Receives how many bytes the server has. */
  readonly onOffset: (received: number) => void;
  /** Receives how many bytes have been sent, including those that the server has. */
  readonly onProgress: (sent: number) => void;
  /** Receives whether the upload waits for its next attempt, for example after a lost connection. */
  readonly onInterruption: (isInterrupted: boolean) => void;
  /** Addresses of the uploads that this page sends. */
  readonly addresses: Set<string>;
}

/** Waits for a time in ms. Ends earlier if the browser reports a connection or the signal aborts. */
function pause(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, time);
    window.addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}

/**
 * Sends a part, and ends the attempt if the connection is lost.
 * @returns SHA-256 of the complete file, hexadecimal, or null if more parts must follow
 * @throws Failure; if the signal was aborted before, its reason
 */
async function attemptPart(
  address: string,
  file: File,
  offset: number,
  { onProgress }: UploadEvents,
  signal: AbortSignal,
): Promise<string | null> {
  const end = Math.min(file.size, offset + partSize);
  const connectionLoss = new AbortController();
  const endAttempt = () => connectionLoss.abort(offlineFailure());
  let timer = setTimeout(endAttempt, maxSilence);
  window.addEventListener('offline', endAttempt);
  try {
    const onSent = (sent: number) => {
      clearTimeout(timer);
      // The server may need minutes to make the last bytes durable.
      if (offset + sent < end) timer = setTimeout(endAttempt, maxSilence);
      onProgress(offset + sent);
    };
    return await sendPart(address, file, { offset, end }, onSent, AbortSignal.any([signal, connectionLoss.signal]));
  } finally {
    clearTimeout(timer);
    window.removeEventListener('offline', endAttempt);
  }
}

/** Repeats an attempt until it succeeds, or fails for good. @param getProgress returns a number that is higher after progress */
async function repeat<T>(
  attempt: () => Promise<T>,
  getProgress: () => number,
  { onInterruption }: UploadEvents,
  signal: AbortSignal,
): Promise<T> {
  let [failures, progress] = [0, getProgress()];
  for (;;) {
    try {
      signal.throwIfAborted();
      return await attempt();
    } catch (cause) {
      const failure = asFailure(cause);
      if (signal.aborted || !isTemporary(failure)) throw cause;
      onInterruption(true);
      failures = getProgress() > progress ? 0 : failures + 1;
      progress = getProgress();
      await pause(Math.max((failure.retryAfter ?? 0) * 1000, Math.min(maxPause, minPause * 2 ** failures)), signal);
    }
  }
}

/** Sends all parts that the server lacks. @throws Failure; if the signal is aborted between two requests, its reason */
async function sendParts(
  address: string,
  path: readonly string[],
  file: File,
  events: UploadEvents,
  signal: AbortSignal,
): Promise<UploadReceipt> {
  let received = 0;
  const receiptOf = (sha256: string | null): UploadReceipt => ({ name: uploadName({ path, file }), size: file.size, sha256 });
  async function sendNextPart(): Promise<UploadReceipt | null> {
    const state = await fetchState(address);
    // The response to the last part was lost.
    if (state.isComplete) return receiptOf(state.sha256);
    received = state.received;
    events.onInterruption(false);
    events.onOffset(received);
    saveUnfinished({ address, path, size: file.size, modified: file.lastModified });
    const sha256 = await attemptPart(address, file, received, events, signal);
    return sha256 === null ? null : receiptOf(sha256);
  }
  for (;;) {
    const receipt = await repeat(sendNextPart, () => received, events, signal);
    if (receipt) return receipt;
  }
}

/**
 * Ends an upload on the server, and forgets it. A failure does not matter: the server deletes the
 * upload after it has expired.
 */
function endAndForgetUpload(address: string): void {
  forgetUnfinished(address);
  endUpload(address).catch(() => {});
}

/**
 * Uploads a large file in parts. The upload continues after a lost connection. If the page was
 * closed, the upload continues when the visitor chooses the same file again. A storage that cannot
 * continue uploads gets the file in one request.
 * @throws Failure; if the signal is aborted between two requests, its reason
 */
export async function uploadInParts(
  path: readonly string[],
  file: File,
  events: UploadEvents,
  signal: AbortSignal,
): Promise<UploadReceipt> {
  const { addresses } = events;
  let address = findUnfinishedUpload(path, file, addresses)?.address;
  let endAnnouncement = () => {};
  try {
    address ??= await repeat(
      () => beginUpload(path, file.size),
      () => 0,
      events,
      signal,
    );
    addresses.add(address);
    endAnnouncement = announceUpload(address);
    const receipt = await sendParts(address, path, file, events, signal);
    forgetUnfinished(address);
    return receipt;
  } catch (cause) {
    const { code } = asFailure(cause);
    if (code === 'changeImpossible' && address === undefined) return upload(path, file, null, events.onProgress, signal);
    if (address === undefined) throw cause;
    // The visitor has cancelled the upload, or the file name was taken meanwhile: the upload is not needed any more.
    if (signal.aborted || code === 'itemExists') endAndForgetUpload(address);
    if (code !== 'uploadUnknown') throw cause;
    forgetUnfinished(address); // the server no longer has this upload, so a new one begins
    return uploadInParts(path, file, events, signal);
  } finally {
    if (address !== undefined) addresses.delete(address);
    endAnnouncement();
  }
}
