import { numberedName } from '#core/item-path.ts';

/** Returns the next numbered name: `a (2).txt` for `a.txt`, `a (3).txt` for `a (2).txt`. */
export function nextNumberedName(name: string): string {
  const numbered = /^(.*) \((\d+)\)(\.[^.]*)?$/.exec(name);
  return numbered ? numberedName(`${numbered[1]}${numbered[3] ?? ''}`, Number(numbered[2]) + 1) : numberedName(name, 2);
}
