import { numberedName } from '#core/item-path.ts';

/** The next name that a file may have beside those of its name: `a.txt`, `a (2).txt`, `a (3).txt`. */
export function freeName(name: string): string {
  const numbered = /^(.*) \((\d+)\)(\.[^.]*)?$/.exec(name);
  return numbered ? numberedName(`${numbered[1]}${numbered[3] ?? ''}`, Number(numbered[2]) + 1) : numberedName(name, 2);
}
