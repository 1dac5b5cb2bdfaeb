import type { Tx } from '#ports/store.ts';

/** Deletes the codes of visitors, the contents of the mails with codes, and those of their deliveries that wait or are being sent. */
export async function deleteCodes(tx: Tx): Promise<void> {
  await tx.deleteFrom('sign_in_code').execute();
  await tx.deleteFrom('delivery').where('lane', '=', 'codes').where('state', 'in', ['waiting', 'sending']).execute();
  await tx.deleteFrom('mail_content').where('kind', '=', 'code').execute();
}
