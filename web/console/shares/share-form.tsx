import { Switch, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { formats, untilText } from '#console/components/format.ts';
import { QuotaFields } from '#console/components/quota-fields.tsx';
import { Section } from '#console/components/section.tsx';
import { profileTypes } from '#core/records/login-profile.ts';
import { AccessFields } from './access-fields.tsx';
import { AlertFields } from './alert-fields.tsx';
import { PathFields } from './path-fields.tsx';
import { PermissionFields } from './permission-fields.tsx';
import { ProtectionFields } from './protection-fields.tsx';
import { profileQuery } from './share-queries.ts';
import { shareSummary } from './share-summary.ts';
import { instantOf, type ShareValues } from './share-values.ts';
import { ValidityFields } from './validity-fields.tsx';

const linkProfile = { title: 'this link', typeId: profileTypes.PASSWORD };

/** Shows the summary sentence of a share, also before it is saved. */
export function ShareSentence({ values }: { values: ShareValues }) {
  const { data: profile = null, isPending } = useQuery(profileQuery(values.authenticationId));
  const [from, until] = [instantOf(values.from), instantOf(values.until)];
  if (isPending && values.authenticationId > 0) return <p className="share-summary">…</p>;
  return (
    <p className="share-summary" aria-live="polite">
      {shareSummary({
        ...values,
        profile: values.ownPassword ? linkProfile : profile,
        isProtected: values.copyProtect || values.waterMarkText !== '',
        from: from && formats.moment(from),
        until: until && untilText(until),
        ended: until !== null && Date.parse(until) <= Date.now(),
      })}
    </p>
  );
}

/** The fields of a share that the console can change, in sections. @param fixed true: the file or folder cannot be changed */
export function ShareForm({ form, fixed }: { form: UseFormReturnType<ShareValues>; fixed: boolean }) {
  return (
    <>
      <Section title="Content" lead="What you share, and the title that visitors see.">
        <PathFields form={form} fixed={fixed} />
        <TextInput label="Title" required withAsterisk={false} {...form.getInputProps('title')} />
        <Textarea
          label="Description"
          description="Visitors see it below the title."
          autosize
          minRows={2}
          {...form.getInputProps('description')}
        />
      </Section>
      <Section title="Access" lead="Who can open the link, and how they sign in.">
        <AccessFields form={form} />
      </Section>
      <Section title="Permissions" lead="What visitors can do. Everything else is hidden and refused.">
        <PermissionFields form={form} />
      </Section>
      <Section title="Quota" lead="How much the shared folder may hold. Uploads at this link that would exceed the quota are refused.">
        <QuotaFields inputProps={form.getInputProps} />
      </Section>
      <Section title="Validity" lead="Before the start, visitors see the message “This link does not exist”.">
        <ValidityFields form={form} />
        <Switch label="Active" {...form.getInputProps('active', { type: 'checkbox' })} />
      </Section>
      <Section title="Alerts" lead="E-mails about visitors' actions.">
        <AlertFields form={form} />
      </Section>
      <Section
        title="Protection"
        lead="With copy protection or a watermark, visitors get only PDF files, images and the pages of Office documents, all with a mark."
      >
        <ProtectionFields form={form} />
      </Section>
      <Section title="Notice to visitors" lead="Shown above the list of files.">
        <Textarea label="Notice" autosize minRows={2} {...form.getInputProps('startupMessage')} />
      </Section>
    </>
  );
}
