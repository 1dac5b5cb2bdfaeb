import { changedFieldsBy } from '#console/components/record-editor.tsx';
import { emptyProfileValues, type ProfileValues } from './profile-values.ts';

const fieldLabels = {
  title: 'title',
  description: 'description',
  startupMessage: 'notice',
  lang: 'language',
  ipRange: 'IP addresses',
  typeId: 'sign-in method',
  username: 'user name',
  password: 'password',
};

/** Returns the labels of the fields that differ between two versions of a login profile. */
export const changedProfileFields = changedFieldsBy<ProfileValues>({
  ...Object.fromEntries(Object.keys(emptyProfileValues).map((name) => [name, 'sign-in settings'])),
  ...fieldLabels,
});
