import { linkPath } from '#visitor/link-api.ts';

// The tabs of a browser share the list of unfinished uploads. Each tab tells the other tabs which uploads it is sending. It uses
// BroadcastChannel, because the Web Locks API is missing in pages without HTTPS.
const channelName = `postern-uploads ${linkPath}`;

/** `query` asks each tab which uploads it sends. */
type Message = { readonly kind: 'query' } | { readonly kind: 'running' | 'ended'; readonly address: string };

/** Tells all tabs that this tab sends an upload, until the returned function is called. @param address of the upload */
export function announceUpload(address: string): () => void {
  const channel = new BroadcastChannel(channelName);
  const send = (kind: 'running' | 'ended') => channel.postMessage({ kind, address } satisfies Message);
  const announce = () => send('running');
  const announceEnd = () => send('ended');
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'query') announce();
  };
  announce();
  window.addEventListener('pagehide', announceEnd);
  window.addEventListener('pageshow', announce); // a page restored from the back/forward cache continues the upload
  return () => {
    window.removeEventListener('pagehide', announceEnd);
    window.removeEventListener('pageshow', announce);
    announceEnd();
    channel.close();
  };
}

/**
 * Asks all tabs of the link which uploads they send.
 * @param onRunning receives the address of each upload that is being sent, also of those that begin later
 * @param onEnded receives the address of an upload that its tab no longer sends: it is complete, has failed or was cancelled, or the tab
 *   has left the page
 * @returns a function that ends the calls
 */
export function watchRunningUploads(onRunning: (address: string) => void, onEnded: (address: string) => void): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'running') onRunning(data.address);
    if (data.kind === 'ended') onEnded(data.address);
  };
  channel.postMessage({ kind: 'query' } satisfies Message);
  return () => channel.close();
}
