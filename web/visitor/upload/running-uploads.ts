import { linkPath } from '#visitor/link-api.ts';

// The tabs of a browser share the list of unfinished uploads. Each tab tells the others which of them it is sending. This uses
// BroadcastChannel, because the Web Locks API is missing in pages without HTTPS.
const channelName = `postern-uploads ${linkPath}`;
const query = '';

/** Tells the other tabs that this tab sends an upload, until the returned function is called. @param address of the upload */
export function announceUpload(address: string): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<string>) => {
    if (data === query) channel.postMessage(address);
  };
  channel.postMessage(address);
  return () => channel.close();
}

/**
 * Asks all tabs of the link which uploads they send.
 * @param onRunning receives the address of each upload that is being sent, also of those that begin later
 * @returns a function that ends the calls
 */
export function watchRunningUploads(onRunning: (address: string) => void): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<string>) => {
    if (data !== query) onRunning(data);
  };
  channel.postMessage(query);
  return () => channel.close();
}
