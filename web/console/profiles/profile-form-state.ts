import type { UseFormReturnType } from '@mantine/form';
import type { ProfileValues } from './profile-values.ts';

/** The form of a login profile. */
export type ProfileFormState = UseFormReturnType<ProfileValues>;
