import { isCommonPassword } from '#core/common-passwords.ts';

/** Letters that repeat or follow each other add little: what is left counts. */
function countVariedLetters(password: string): number {
  const letters = [...password.toLowerCase()];
  const counted = letters.filter((letter, index) => {
    const before = letters[index - 1]?.codePointAt(0);
    const step = before === undefined ? 2 : Math.abs((letter.codePointAt(0) ?? 0) - before);
    return step > 1;
  });
  return Math.min(counted.length, new Set(letters).size * 2);
}

/** A rough measure, to advise while one types; what is refused is the server's to say. 0: nothing yet. */
export function passwordStrength(password: string): 0 | 1 | 2 | 3 {
  if (password === '') return 0;
  const varied = countVariedLetters(password);
  if (password.length < 10 || varied < 8 || isCommonPassword(password)) return 1;
  return varied < 14 ? 2 : 3;
}
