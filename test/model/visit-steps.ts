import fc from 'fast-check';
import { type Flag, flags, type Name } from './visits.model.ts';

const browser = fc.nat(1);
const user = fc.constantFrom<Name>('ann', 'ann', 'ann', 'ann', 'bob');
const path = fc.constantFrom('a', 'a', 'a', 'b', 'd', 'd', 'd/a', 'd/a', 'd/b', 'e/a', 'a (2)');
const mostlyTrue = fc.nat(5).map((chance) => chance > 0);
const permissions = fc.oneof(
  {
    arbitrary: fc.record(Object.fromEntries(flags.map((flag) => [flag, mostlyTrue])) as Record<Flag, typeof mostlyTrue>, {
      noNullPrototype: true,
    }),
    weight: 3,
  },
  {
    arbitrary: fc
      .constantFrom('canUpload' as const, 'canUpload' as const, ...flags)
      .map((only) => Object.fromEntries(flags.map((flag) => [flag, flag === only])) as Record<Flag, boolean>),
    weight: 1,
  },
);
/** Start and end of the validity in minutes after the change, or null for none. */
const begin = fc.constantFrom(null, null, null, null, -60, 0, 25, 50);
const end = fc.constantFrom(null, null, null, null, null, 0, 25, 50);

const steps = [
  { arbitrary: fc.record({ action: fc.constant('visit' as const), browser }), weight: 3 },
  { arbitrary: fc.record({ action: fc.constant('signIn' as const), browser, user, passwordRight: mostlyTrue }), weight: 5 },
  { arbitrary: fc.record({ action: fc.constant('signOut' as const), browser }), weight: 1 },
  {
    arbitrary: fc.record({
      action: fc.constantFrom('list' as const, 'downloadFolder' as const),
      browser,
      path: fc.oneof(fc.constant(''), path),
    }),
    weight: 3,
  },
  { arbitrary: fc.record({ action: fc.constantFrom('view' as const, 'download' as const), browser, path }), weight: 4 },
  {
    arbitrary: fc.record({ action: fc.constant('upload' as const), browser, path, replaces: fc.nat(3).map((chance) => chance === 0) }),
    weight: 6,
  },
  { arbitrary: fc.record({ action: fc.constant('createFolder' as const), browser, path }), weight: 3 },
  { arbitrary: fc.record({ action: fc.constant('rename' as const), browser, path, name: fc.constantFrom('a', 'b', 'd') }), weight: 3 },
  { arbitrary: fc.record({ action: fc.constant('remove' as const), browser, path }), weight: 2 },
  {
    arbitrary: fc.record({
      action: fc.constant('setShare' as const),
      active: mostlyTrue,
      can: permissions,
      from: begin,
      to: end,
      allowAllUsers: fc.boolean(),
      names: fc.uniqueArray(user),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ action: fc.constant('addUser' as const), user }), weight: 1 },
  {
    arbitrary: fc.record({
      action: fc.constant('changeUser' as const),
      user,
      change: fc.constantFrom('activate' as const, 'activate' as const, 'deactivate' as const, 'newPassword' as const, 'delete' as const),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ action: fc.constant('setAddresses' as const), addressAllowed: mostlyTrue }), weight: 1 },
  { arbitrary: fc.record({ action: fc.constant('newLink' as const) }), weight: 1 },
  { arbitrary: fc.record({ action: fc.constant('wait' as const), minutes: fc.constantFrom(25, 25, 25, 420) }), weight: 3 },
];
type StepOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
export type Step = StepOf<(typeof steps)[number]['arbitrary']>;

/** Any next step: of an operator or a visitor, or a wait. */
export const anyStep = fc.oneof(...(steps as { arbitrary: fc.Arbitrary<Step>; weight: number }[])); // typed as one union of steps
