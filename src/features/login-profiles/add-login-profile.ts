import Type from 'typebox';
import { loginProfileFields, NewLoginProfile } from '#core/records/login-profile.ts';
import { changeOperation } from '#features/operation.ts';
import { createdProfileResult } from './created-profile-result.ts';
import { insertProfile } from './insert-login-profile.ts';
import { emptyProfile, mergeProfile } from './login-profile-body.ts';

/** Fields that add and duplicate return in addition to the common fields (`Envelope`). */
export const createdProfileFields = Type.Object({
  id: loginProfileFields.id,
  viewId: loginProfileFields.viewId,
  viewUrl: loginProfileFields.viewUrl,
});

export const addLoginProfile = changeOperation({
  name: 'loginprofile/add',
  method: 'POST',
  role: 'admin',
  summary: 'Adds a login profile. Without a type, its type is USERS.',
  message: 'loginProfileAdded',
  body: NewLoginProfile,
  responseFields: createdProfileFields,
  async change({ typeId, ...body }, caller, tx, ports) {
    const profile = mergeProfile(typeId ? { ...body, typeId } : body, emptyProfile);
    return createdProfileResult(tx, caller.tid, await insertProfile(tx, caller, profile, ports), ports);
  },
});
