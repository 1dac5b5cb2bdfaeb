import { TagsInput, type TagsInputProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '#console/api/call.ts';
import { parseEmail } from '#core/mail/email.ts';

const maxOptions = 20;

/** Returns an error text that names the first entry that is not an e-mail address, or null. */
export function emailError(emails: readonly string[]): string | null {
  const wrong = emails.find((email) => parseEmail(email) === null);
  return wrong === undefined ? null : `“${wrong}” is not an e-mail address.`;
}

/** A field for e-mail addresses. It suggests addresses of access users. @param profile login profile of the users; null: of all profiles */
export function EmailTags({ profile, ...props }: TagsInputProps & { readonly profile: number | null }) {
  const [word, setWord] = useState('');
  const [debouncedWord] = useDebouncedValue(word, 150);
  const { data: options = [] } = useQuery({
    queryKey: ['user', 'emails', profile, debouncedWord],
    queryFn: async ({ signal }) => {
      const query = {
        searchWord: debouncedWord,
        pageSize: maxOptions,
        sortField: 'username',
        ...(profile === null ? {} : { authId: profile }),
      };
      const { list } = await get('accessuser/search', query, signal);
      return [...new Set(list.map(({ email }) => email).filter((email) => email !== ''))];
    },
    placeholderData: keepPreviousData,
  });
  return (
    <TagsInput
      placeholder="ann@example.com"
      data={options}
      filter={({ options }) => options} // the server has filtered the options; its search also matches names
      searchValue={word}
      onSearchChange={setWord}
      acceptValueOnBlur
      {...props}
    />
  );
}
