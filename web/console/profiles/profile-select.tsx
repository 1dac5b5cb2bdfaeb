import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { findProfiles, profileQuery } from '#console/shares/share-queries.ts';
import type { LoginProfile } from '#core/records/login-profile.ts';
import { signInKindLabels } from './kinds.ts';

const maxOptions = 50;

interface Props {
  readonly label: string;
  readonly description?: string;
  /** If set, the select is a filter: no selection means all profiles. Only screen readers get the label. */
  readonly placeholder?: string;
  readonly value: number | undefined;
  readonly onChange: (id: number | undefined) => void;
  readonly error?: ReactNode;
  /** Offers only login profiles with which access users sign in. */
  readonly withUsers?: boolean;
  /** Adds the kind of sign-in to the titles, in parentheses. */
  readonly withKind?: boolean;
  readonly disabled?: boolean;
}

/** A select for a login profile. The server searches the options, since there may be more profiles than a list can show. */
export function ProfileSelect({
  label,
  description,
  placeholder,
  value,
  onChange,
  error,
  withUsers = false,
  withKind = false,
  disabled = false,
}: Props) {
  const [word, setWord] = useState('');
  const [debouncedWord] = useDebouncedValue(word, 150);
  const { data: selected } = useQuery(profileQuery(value ?? 0));
  const searchWord = selected?.title === debouncedWord ? '' : debouncedWord;
  const { data: options = [] } = useQuery({
    queryKey: ['profile', 'offered', searchWord, withUsers],
    queryFn: ({ signal }) => findProfiles({ searchWord, pageSize: maxOptions }, withUsers, signal),
    placeholderData: keepPreviousData,
  });
  const all = selected && !options.some(({ id }) => id === selected.id) ? [selected, ...options] : options;
  const kindOf = ({ typeString }: LoginProfile) => signInKindLabels[typeString]?.name ?? typeString;
  const labelOf = (profile: LoginProfile) => (withKind ? `${profile.title} (${kindOf(profile)})` : profile.title);
  return (
    <Select
      {...(placeholder === undefined ? { label, description } : { 'aria-label': label, placeholder, clearable: true })}
      searchable
      allowDeselect={false}
      data={all.map((profile) => ({ value: String(profile.id), label: labelOf(profile) }))}
      filter={({ options }) => options} // the server has filtered the options
      onSearchChange={(typed) => setWord(withKind ? typed.replace(/ \([^)]*\)$/, '') : typed)}
      nothingFoundMessage="No login profile found"
      value={value ? String(value) : null}
      onChange={(id) => onChange(id === null ? undefined : Number(id))}
      error={error}
      disabled={disabled}
    />
  );
}
