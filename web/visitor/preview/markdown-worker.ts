// Parses Markdown. The page ends this worker if a text takes too long.
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  self.postMessage(fromMarkdown(data, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
});
