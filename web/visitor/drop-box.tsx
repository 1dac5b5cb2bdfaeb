import { exactSize, formatSize } from '#kit/format.ts';
import { Icon } from '#kit/icons.tsx';
import { ChooseFiles, useDrop } from './drop-target.tsx';
import { FileName } from './file-name.tsx';
import type { Uploads } from './uploads.ts';

/** A link that takes files and shows none: where to drop, and afterwards a receipt. */
export function DropBox({ uploads }: { uploads: Uploads }) {
  const take = (files: File[]) => uploads.add(files, []);
  const over = useDrop(take);
  const kept = uploads.all.flatMap(({ received }) => received ?? []);
  return (
    <>
      <div class={over ? 'drop-box over' : 'drop-box'}>
        <Icon name="upload" size={32} />
        <p>Drop files here</p>
        <ChooseFiles className="button primary" take={take}>
          Choose files
        </ChooseFiles>
        <p class="quiet small">Only whoever sent you this link sees what you upload.</p>
      </div>
      {kept.length > 0 && (
        <section class="receipt">
          <h2>Received</h2>
          <ul class="rows">
            {kept.map((file) => (
              <li key={file.sha256 + file.name} class="row receipt-row">
                <span class="done">
                  <Icon name="check" />
                </span>
                <FileName name={file.name} />
                <span class="quiet small" title={exactSize(file.size)}>
                  {formatSize(file.size)}
                </span>
                <code class="quiet">SHA-256 {file.sha256}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
