/** The next name that a file may have beside those of its name: `a.txt`, `a (2).txt`, `a (3).txt`. */
export function freeName(name: string): string {
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  const numbered = /^(.*) \((\d+)\)$/.exec(stem);
  return numbered ? `${numbered[1]} (${Number(numbered[2]) + 1})${ending}` : `${stem} (2)${ending}`;
}
