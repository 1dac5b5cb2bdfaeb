/** Characters of the texts of an answer, and of whatever it holds. */
export function textLength(answer: unknown): number {
  if (typeof answer === 'string') return answer.length;
  if (typeof answer !== 'object' || answer === null) return 0;
  return Object.values(answer).reduce<number>((sum, part) => sum + textLength(part), 0);
}
