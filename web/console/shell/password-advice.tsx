import { Group, Progress, Text } from '@mantine/core';
import { passwordStrength } from './password-strength.ts';

const strengthTexts = ['', 'Weak. Make it longer.', 'Fair. Add another word.', 'Good.'] as const;

export function PasswordAdvice({ password }: { password: string }) {
  const strength = passwordStrength(password);
  if (strength === 0) return null;
  return (
    <Group gap="sm" wrap="nowrap" aria-live="polite">
      <Progress w={96} value={(strength / 3) * 100} color={strength === 1 ? 'red' : 'accent'} aria-label="Password strength" />
      <Text size="xs" c="dimmed">
        {strengthTexts[strength]}
      </Text>
    </Group>
  );
}
