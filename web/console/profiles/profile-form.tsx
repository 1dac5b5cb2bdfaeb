import { Radio, Select, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Section } from '#console/records/section.tsx';
import { useCaller } from '#console/shell/who.ts';
import { inRanges, packRanges, parseRanges } from '#core/policy/address-range.ts';
import { isProfileTypeAvailable, profileTypes } from '#core/records/login-profile.ts';
import { languages } from '#core/translations/languages.ts';
import { KindFields } from './kind-fields.tsx';
import { kinds } from './kinds.ts';
import type { ProfileValues } from './profile-values.ts';

const names = new Intl.DisplayNames('en', { type: 'language' });

/** Would these rules shut out whoever edits them? */
export function excludesAddress(ipRange: string, address: string): boolean {
  const ranges = parseRanges(ipRange);
  return !('wrong' in ranges) && !inRanges(packRanges(ranges), address);
}

function AddressField({ form }: { form: UseFormReturnType<ProfileValues> }) {
  const { address } = useCaller();
  const { ipRange } = form.values;
  return (
    <>
      <Textarea
        label="Addresses"
        description="Single addresses, blocks like 10.0.0.0/8, or first-last; empty: from anywhere."
        autosize
        minRows={2}
        {...form.getInputProps('ipRange')}
      />
      <Text size="sm" c={excludesAddress(ipRange, address) ? 'var(--loss)' : 'dimmed'}>
        Your own address is {address}
        {excludesAddress(ipRange, address) ? ', which is not among these.' : '.'}
      </Text>
    </>
  );
}

/** Everything that a login profile is made of, in sections. */
export function ProfileForm({ form }: { form: UseFormReturnType<ProfileValues> }) {
  return (
    <>
      <Section title="Name" lead="Visitors read the title where they sign in.">
        <TextInput label="Title" required withAsterisk={false} {...form.getInputProps('title')} />
        <Textarea
          label="Description"
          description="Description for operators. Visitors do not see it."
          autosize
          minRows={2}
          {...form.getInputProps('description')}
        />
      </Section>
      <Section title="How visitors sign in" lead="The kind decides what a visitor is asked for.">
        <Radio.Group
          aria-label="Kind"
          value={String(form.values.typeId)}
          onChange={(typeId) => form.setFieldValue('typeId', Number(typeId))}
        >
          <div className="choices">
            {Object.entries(profileTypes).map(([type, typeId]) => (
              <Radio.Card
                key={type}
                value={String(typeId)}
                className="choice"
                aria-label={kinds[type]?.name}
                aria-description={kinds[type]?.description}
                disabled={!isProfileTypeAvailable(typeId) && form.values.typeId !== typeId}
              >
                <Radio.Indicator />
                <div>
                  <Text fw={550}>{kinds[type]?.name}</Text>
                  {!isProfileTypeAvailable(typeId) && <Text size="sm">Not available yet</Text>}
                  <Text size="sm" c="dimmed">
                    {kinds[type]?.description}
                  </Text>
                </div>
              </Radio.Card>
            ))}
          </div>
        </Radio.Group>
        <KindFields form={form} />
      </Section>
      <Section title="From where" lead="Asked at every request, not only where somebody signs in.">
        <AddressField form={form} />
      </Section>
      <Section title="What they read" lead="The language of the visitor's page, and a notice above the sign-in.">
        <Select
          label="Language"
          placeholder="As the visitor's browser says"
          clearable
          data={languages.map((tag) => ({ value: tag, label: names.of(tag) ?? tag }))}
          value={form.values.lang || null}
          onChange={(lang) => form.setFieldValue('lang', lang ?? '')}
        />
        <Textarea label="Notice" autosize minRows={2} {...form.getInputProps('startupMessage')} />
      </Section>
    </>
  );
}
