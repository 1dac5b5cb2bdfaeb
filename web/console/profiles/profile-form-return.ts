import type { UseFormReturnType } from '@mantine/form';
import type { ProfileValues } from './profile-values.ts';

export type ProfileFormReturn = UseFormReturnType<ProfileValues>;
