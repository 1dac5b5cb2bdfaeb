import { Radio, Select, Text, Textarea, TextInput } from '@mantine/core';
import { Section } from '#console/components/section.tsx';
import { useCaller } from '#console/shell/caller.ts';
import { inRanges, packRanges, parseRanges } from '#core/authorization/address-range.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { languages } from '#core/translations/languages.ts';
import { KindFields } from './kind-fields.tsx';
import { signInKindLabels } from './kinds.ts';
import type { ProfileFormReturn } from './profile-form-return.ts';

const languageNames = new Intl.DisplayNames('en', { type: 'language' });

/** Returns whether the ranges exclude an address. Invalid ranges exclude none. */
export function excludesAddress(ipRange: string, address: string): boolean {
  const ranges = parseRanges(ipRange);
  return !('invalidEntry' in ranges) && !inRanges(packRanges(ranges), address);
}

function AddressField({ form }: { form: ProfileFormReturn }) {
  const { address } = useCaller();
  const { ipRange } = form.values;
  return (
    <>
      <Textarea
        label="IP addresses"
        description="Single addresses, blocks such as 10.0.0.0/8, or ranges such as 10.0.0.1-10.0.0.9. Leave empty to allow all addresses."
        autosize
        minRows={2}
        {...form.getInputProps('ipRange')}
      />
      <Text size="sm" c={excludesAddress(ipRange, address) ? 'var(--danger)' : 'dimmed'}>
        Your own address is {address}
        {excludesAddress(ipRange, address) ? ', which is not in this list.' : '.'}
      </Text>
    </>
  );
}

export function ProfileForm({ form }: { form: ProfileFormReturn }) {
  return (
    <>
      <Section title="Name" lead="Visitors see the title when they sign in.">
        <TextInput label="Title" required withAsterisk={false} {...form.getInputProps('title')} />
        <Textarea
          label="Description"
          description="For operators. Visitors do not see it."
          autosize
          minRows={2}
          {...form.getInputProps('description')}
        />
      </Section>
      <Section title="How visitors sign in" lead="The sign-in method determines what a visitor must enter.">
        <Radio.Group
          aria-label="Sign-in method"
          value={String(form.values.typeId)}
          onChange={(typeId) => form.setFieldValue('typeId', Number(typeId))}
        >
          <div className="choices">
            {Object.entries(profileTypes).map(([type, typeId]) => (
              <Radio.Card
                key={type}
                value={String(typeId)}
                className="choice"
                aria-label={signInKindLabels[type]?.name}
                aria-description={signInKindLabels[type]?.description}
              >
                <Radio.Indicator />
                <div>
                  <Text fw={550}>{signInKindLabels[type]?.name}</Text>
                  <Text size="sm" c="dimmed">
                    {signInKindLabels[type]?.description}
                  </Text>
                </div>
              </Radio.Card>
            ))}
          </div>
        </Radio.Group>
        <KindFields form={form} />
      </Section>
      <Section title="Allowed IP addresses" lead="Checked on every request, not only at sign-in.">
        <AddressField form={form} />
      </Section>
      <Section title="Visitor page" lead="The language of the page, and a notice above the sign-in form.">
        <Select
          label="Language"
          placeholder="Language of the visitor's browser"
          clearable
          data={languages.map((tag) => ({ value: tag, label: languageNames.of(tag) ?? tag }))}
          value={form.values.lang || null}
          onChange={(lang) => form.setFieldValue('lang', lang ?? '')}
        />
        <Textarea label="Notice" autosize minRows={2} {...form.getInputProps('startupMessage')} />
      </Section>
    </>
  );
}
