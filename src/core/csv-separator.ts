const separators = [',', ';', '\t'];

/** Returns the separator that the first line with text uses most, outside quotes. */
export function csvSeparatorOf(text: string): string {
  const first = (/^.*\S.*$/m.exec(text)?.[0] ?? '').replace(/"[^"]*"/g, '');
  return separators.reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best));
}
