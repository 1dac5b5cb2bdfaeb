import Type from 'typebox';
import { recordId } from '#core/records/field.ts';
import { Delivery, deliveryStates, mailKinds } from '#core/records/mail.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { readOperation } from '#features/operation.ts';
import { emptyFirst, findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import { deliveryRecords } from './delivery-records.ts';

const sortColumns = {
  id: 'delivery.id',
  kind: 'delivery.kind',
  recipient: 'delivery.recipient',
  state: 'delivery.state',
  attempts: 'delivery.attempts',
  shareId: emptyFirst('delivery.share_id'),
  createDateTime: 'delivery.created_at',
  dueDateTime: 'delivery.due_at',
  endDateTime: emptyFirst('delivery.ended_at'),
};

export const searchDeliveries = readOperation({
  name: 'mail/deliveries',
  isSearch: true,
  method: 'GET',
  role: 'editor',
  summary:
    'Searches the mails: alerts, invitations, codes and test mails. Each recipient has a mail of their own. Sent, failed and dropped mails are listed for 30 days.',
  body: searchQuery({
    state: Type.Optional(Type.Enum([...deliveryStates], { description: 'Only mails in this state.' })),
    kind: Type.Optional(Type.Enum([...mailKinds], { description: 'Only mails of this kind.' })),
    shareId: Type.Optional(recordId('Only mails about this share.')),
  }),
  response: searchEnvelope(Delivery),
  async read(query, caller, ports) {
    const page = parsePage(query, sortColumns);
    let matches = ports.store.search.selectFrom('delivery').where('tid', '=', caller.tid);
    if (page.word !== null) matches = matches.where(ports.store.dialect.containsWord('delivery.recipient_key', page.word));
    if (page.from !== null) matches = matches.where('created_at', '>=', page.from);
    if (page.before !== null) matches = matches.where('created_at', '<', page.before);
    if (query.state !== undefined) matches = matches.where('state', '=', query.state);
    if (query.kind !== undefined) matches = matches.where('kind', '=', query.kind);
    if (query.shareId !== undefined) matches = matches.where('share_id', '=', query.shareId);
    const { ids, ...rest } = await findPage(ports.store, { matches, page, id: 'delivery.id' });
    const list = await deliveryRecords(ports.store.search, caller.tid, ids);
    return searchResponse('delivery', { list, ...rest }, page, hasFilter(query), caller, ports, 'editor');
  },
});
