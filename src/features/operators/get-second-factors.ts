import Type from 'typebox';
import { SecondFactors } from '#core/records/second-factor.ts';
import { readOperation } from '#features/operation.ts';
import { checkIsOperator, secondFactorRecords } from './second-factor-rows.ts';

export const getSecondFactors = readOperation({
  name: 'operator/getSecondFactors',
  method: 'GET',
  role: 'reader',
  withoutSecondFactor: true,
  summary: 'Returns your own second factors and the number of recovery codes that are left.',
  body: Type.Object({}, { additionalProperties: false }),
  response: SecondFactors,
  async read(_query, caller, { store }) {
    checkIsOperator(caller);
    return secondFactorRecords(store.read, caller);
  },
});
