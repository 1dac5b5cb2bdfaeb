import type { CodeMails } from '#features/outbox/code-mails.ts';
import { readSealedCode } from '#features/outbox/mail-content.ts';
import type { Ports } from '#ports/ports.ts';
import { deleteCodeDeliveries, waitingCodes } from './delivery-queue.ts';

const codesPerChange = 200;

/**
 * Deletes the waiting mails with codes for addresses that get no code, many at a time: anybody can request thousands of codes.
 * @returns the id of the newest code that was checked
 */
export async function deleteUnwantedCodes(
  { store, codeMails }: Pick<Ports, 'store'> & { readonly codeMails: CodeMails },
  checkedUntil: number,
  signal: AbortSignal,
): Promise<number> {
  let after = checkedUntil;
  while (!signal.aborted) {
    const codes = await waitingCodes({ store }, after, codesPerChange);
    const last = codes.at(-1);
    if (!last) return after;
    const isKnown = await codeMails.areAddressesKnown(codes.map(({ data }) => readSealedCode(data)));
    await deleteCodeDeliveries(
      { store },
      codes.filter((_, index) => !isKnown[index]),
    );
    after = last.id;
  }
  return after;
}
