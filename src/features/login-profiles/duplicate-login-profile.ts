import { fieldRefusal } from '#core/messages.ts';
import { bodyOf, limits } from '#core/records/field.ts';
import { loginProfileFields } from '#core/records/login-profile.ts';
import { normalizeText } from '#core/unicode.ts';
import { changeOperation } from '#features/operation.ts';
import { createdProfileFields } from './add-login-profile.ts';
import { createdProfileResult } from './created-profile-result.ts';
import { insertProfile } from './insert-login-profile.ts';
import { readLoginProfileInput } from './update-login-profile.ts';

export const duplicateLoginProfile = changeOperation({
  name: 'loginprofile/duplicate',
  method: 'POST',
  role: 'admin',
  summary: 'Copies a login profile, secrets included; its users and shares stay with the original.',
  message: 'loginProfileDuplicated',
  body: bodyOf(loginProfileFields, [], ['id', 'title']),
  responseFields: createdProfileFields,
  target: { table: 'login_profile' },
  async change(body, caller, tx, ports) {
    if (body.title === '') throw fieldRefusal('title', 'must not be empty');
    const original = await readLoginProfileInput(tx, caller.tid, body.id ?? 0, ports.vault);
    const title = normalizeText(body.title ?? `${original.title.slice(0, limits.name - 7)} (copy)`);
    return createdProfileResult(tx, caller.tid, await insertProfile(tx, caller, { ...original, title }, ports), ports);
  },
});
