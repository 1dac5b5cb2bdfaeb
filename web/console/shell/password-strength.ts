import { isCommonPassword } from '#core/common-passwords.ts';

/** Counts the letters without repetitions and sequences such as `aaa` and `abc`, which add little strength. */
function countVariedLetters(password: string): number {
  const letters = [...password.toLowerCase()];
  const counted = letters.filter((letter, index) => {
    const before = letters[index - 1]?.codePointAt(0);
    const step = before === undefined ? 2 : Math.abs((letter.codePointAt(0) ?? 0) - before);
    return step > 1;
  });
  return Math.min(counted.length, new Set(letters).size * 2);
}

/** Returns a rough strength for advice while typing. 0: empty. The server alone decides which passwords it refuses. */
export function passwordStrength(password: string): 0 | 1 | 2 | 3 {
  if (password === '') return 0;
  const varied = countVariedLetters(password);
  if (password.length < 10 || varied < 8 || isCommonPassword(password)) return 1;
  return varied < 14 ? 2 : 3;
}
