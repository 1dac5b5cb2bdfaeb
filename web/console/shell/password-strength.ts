import { isCommonPassword } from '#core/common-passwords.ts';

/** Counts characters, at most two per different one, without those that repeat the one before or continue a sequence such as `abc`. */
function countVariedLetters(password: string): number {
  const letters = [...password.toLowerCase()];
  const variedLetters = letters.filter((letter, index) => {
    const before = letters[index - 1]?.codePointAt(0);
    const step = before === undefined ? 2 : Math.abs((letter.codePointAt(0) ?? 0) - before);
    return step > 1;
  });
  return Math.min(variedLetters.length, new Set(letters).size * 2);
}

/** Returns a rough strength from 1 to 3, for advice while the operator types; 0 for an empty string. It does not decide what is refused. */
export function passwordStrength(password: string): 0 | 1 | 2 | 3 {
  if (password === '') return 0;
  const letterCount = countVariedLetters(password);
  if (password.length < 10 || letterCount < 8 || isCommonPassword(password)) return 1;
  return letterCount < 14 ? 2 : 3;
}
