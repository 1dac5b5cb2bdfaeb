import { isCommonPassword } from '#core/common-passwords.ts';

/** Letters that repeat or follow each other add little: what is left counts. */
function tellingLetters(password: string): number {
  const letters = [...password.toLowerCase()];
  const adds = letters.filter((letter, index) => {
    const before = letters[index - 1]?.codePointAt(0);
    const step = before === undefined ? 2 : Math.abs((letter.codePointAt(0) ?? 0) - before);
    return step > 1;
  });
  return Math.min(adds.length, new Set(letters).size * 2);
}

/** A rough measure, to advise while one types; what is refused is the server's to say. 0: nothing yet. */
export function passwordStrength(password: string): 0 | 1 | 2 | 3 {
  if (password === '') return 0;
  const telling = tellingLetters(password);
  if (password.length < 10 || telling < 8 || isCommonPassword(password)) return 1;
  return telling < 14 ? 2 : 3;
}
