const sizeUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;

/** Formats values with units in one language. */
export interface UnitFormats {
  /** `3.4 MB`. */
  size(bytes: number): string;
  /** `2 min`. @param unit as in `Intl.NumberFormat` */
  inUnit(value: number, unit: string): string;
}

/** Returns the formats of a language. @param tag BCP 47 */
export function unitFormats(tag: string): UnitFormats {
  // Cached: creating a NumberFormat takes longer than drawing a row.
  const formats = new Map<string, Intl.NumberFormat>();
  function format(value: number, unit: string, digits: number): string {
    const key = `${unit} ${digits}`;
    const numberFormat =
      formats.get(key) ??
      new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: unit === 'byte' ? 'long' : 'short', maximumFractionDigits: digits });
    formats.set(key, numberFormat);
    return numberFormat.format(value);
  }
  return {
    size(bytes) {
      // Rounds before it chooses the unit, so that 999,999 bytes are 1 MB and not 1,000 kB.
      const fittingPower = sizeUnits.findIndex((_, power) => Math.round(bytes / 1000 ** power) < 1000);
      const power = fittingPower < 0 ? sizeUnits.length - 1 : fittingPower;
      const value = bytes / 1000 ** power;
      return format(value, sizeUnits[power] ?? 'byte', power > 0 && value < 100 ? 1 : 0);
    },
    inUnit: (value, unit) => format(value, unit, 0),
  };
}
