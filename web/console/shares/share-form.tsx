import { Switch, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { formats } from '#console/records/format.ts';
import { Section } from '#console/records/section.tsx';
import { isProfileTypeAvailable, profileTypes } from '#core/records/login-profile.ts';
import { AlertFields } from './alert-fields.tsx';
import { PermissionFields } from './permission-fields.tsx';
import { PathFields } from './place-fields.tsx';
import { ProtectionFields } from './protection-fields.tsx';
import { sentenceOf } from './sentence.ts';
import { profileQuery } from './share-queries.ts';
import { instantOf, type ShareValues } from './share-values.ts';
import { ValidityFields } from './when-fields.tsx';
import { AccessFields } from './who-fields.tsx';

const linkProfile = { title: 'this link', typeId: profileTypes.PASSWORD, available: true };

/** What the share comes to, while it is edited. */
export function ShareSentence({ values }: { values: ShareValues }) {
  const { data: profile = null, isPending } = useQuery(profileQuery(values.authenticationId));
  const [from, until] = [instantOf(values.from), instantOf(values.until)];
  if (isPending && values.authenticationId > 0) return <p className="sentence">…</p>;
  return (
    <p className="sentence" aria-live="polite">
      {sentenceOf({
        ...values,
        profile: values.ownPassword ? linkProfile : profile && { ...profile, available: isProfileTypeAvailable(profile.typeId) },
        marked: values.copyProtect || values.waterMarkText !== '' || values.digitalSignature,
        from: from && formats.moment(from),
        until: until && formats.end(until).moment,
        ended: until !== null && Date.parse(until) <= Date.now(),
      })}
    </p>
  );
}

/** Everything that a share is made of, in sections. @param fixed the file or folder is chosen already */
export function ShareForm({ form, fixed }: { form: UseFormReturnType<ShareValues>; fixed: boolean }) {
  return (
    <>
      <Section title="What" lead="The file or folder that is shared, and the name that visitors read.">
        <PathFields form={form} fixed={fixed} />
        <TextInput label="Title" required withAsterisk={false} {...form.getInputProps('title')} />
        <Textarea
          label="Description"
          description="Below the title, for visitors."
          autosize
          minRows={2}
          {...form.getInputProps('description')}
        />
      </Section>
      <Section title="Who" lead="Who may open the link, and how they show who they are.">
        <AccessFields form={form} />
      </Section>
      <Section title="May" lead="What they may do there. Nothing else is offered, and nothing else is answered.">
        <PermissionFields form={form} />
      </Section>
      <Section title="When" lead="Before it begins the link answers as if it did not exist.">
        <ValidityFields form={form} />
        <Switch label="The link is switched on" {...form.getInputProps('active', { type: 'checkbox' })} />
      </Section>
      <Section title="Alerts" lead="E-mails about what visitors do.">
        <AlertFields form={form} />
      </Section>
      <Section title="Protection" lead="What becomes of documents before they are shown or handed out.">
        <ProtectionFields form={form} />
      </Section>
      <Section title="Before the files" lead="A notice that visitors read above the list.">
        <Textarea label="Notice" autosize minRows={2} {...form.getInputProps('startupMessage')} />
      </Section>
    </>
  );
}
