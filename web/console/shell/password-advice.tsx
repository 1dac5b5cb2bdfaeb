import { Group, Progress, Text } from '@mantine/core';
import { passwordStrength } from './password-strength.ts';

const strengthTexts = ['', 'Weak: longer is better than odder.', 'Fair: a word more makes it good.', 'Good.'] as const;

/** How good a password is, while it is typed. */
export function PasswordAdvice({ password }: { password: string }) {
  const strength = passwordStrength(password);
  if (strength === 0) return null;
  return (
    <Group gap="sm" wrap="nowrap" aria-live="polite">
      <Progress w={96} value={(strength / 3) * 100} color={strength === 1 ? 'red' : 'accent'} aria-label="How good the password is" />
      <Text size="xs" c="dimmed">
        {strengthTexts[strength]}
      </Text>
    </Group>
  );
}
