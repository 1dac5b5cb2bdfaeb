import { Refusal } from '#core/messages.ts';
import { bodyOf } from '#core/records/field.ts';
import { LoginProfile, loginProfileFields } from '#core/records/login-profile.ts';
import { readOperation } from '#features/operation.ts';
import { defaultProfileId, hideProfileDetails, loginProfileRecords } from './login-profile-rows.ts';

export const getLoginProfile = readOperation({
  name: 'loginprofile/get',
  method: 'POST',
  role: 'reader',
  summary:
    "Returns a login profile; without an id, the tenant's default profile. Readers get it without configuration, username and counts.",
  body: bodyOf(loginProfileFields, [], ['id']),
  response: LoginProfile,
  async read({ id }, caller, ports) {
    const profileId = id ?? (await defaultProfileId(ports.store.read, caller.tid)) ?? 0;
    const [record] = await loginProfileRecords(ports.store.read, caller.tid, [profileId], ports);
    if (!record) throw new Refusal('recordUnknown');
    return caller.role === 'reader' ? hideProfileDetails(record) : record;
  },
});
