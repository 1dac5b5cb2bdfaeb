import Type from 'typebox';
import { formatInstant } from '#core/instant.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { instant, recordId } from '#core/records/field.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { readOperation } from '#features/operation.ts';
import { providerSignInTime } from '#features/provider-sign-ins/pending-sign-in.ts';
import { sealTestToken } from '#features/provider-sign-ins/test-token.ts';

const TestAddress = Type.Object({
  url: Type.String({ description: 'Address to open in a browser. At the end, the page shows the result of the test.' }),
  expiryDateTime: instant('When the address stops working.'),
});

const types: readonly number[] = [profileTypes.OIDC, profileTypes.SAML];

export const testSignIn = readOperation({
  name: 'loginprofile/testSignIn',
  method: 'POST',
  role: 'admin',
  summary:
    'Returns an address for a test sign-in at the provider. The page at this address shows which information the provider sends about you, and by which user names and groups shares can list you.',
  body: Type.Object({ id: recordId('Login profile of the type OIDC or SAML.') }, { additionalProperties: false }),
  response: TestAddress,
  async read({ id }, { tid }, ports) {
    const profile = await ports.store.read
      .selectFrom('login_profile')
      .select('type_id')
      .where('tid', '=', tid)
      .where('id', '=', id)
      .executeTakeFirst();
    if (!profile) throw new Refusal('recordUnknown');
    if (!types.includes(profile.type_id)) throw fieldRefusal('id', 'must be a login profile of the type OIDC or SAML');
    const token = sealTestToken(ports, { tid, profileId: id });
    const url = `${ports.links.publicUrl()}/sign-in/test?${new URLSearchParams({ token })}`;
    return { url, expiryDateTime: formatInstant(ports.clock.now() + providerSignInTime) };
  },
});
