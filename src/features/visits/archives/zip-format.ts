/** One file or folder of an archive. */
export interface ZipItem {
  /** Path within the archive, with `/` between names. The path of a folder ends with `/`. */
  readonly name: string;
  /** Milliseconds since the epoch; null: unknown. */
  readonly modified: number | null;
}

/** The checksum (CRC-32) and the size of an item's content. */
export interface ContentSummary {
  readonly crc: number;
  readonly size: number;
}

// PKWARE APPNOTE 6.3.10; the comments give section numbers.
const signature = {
  local: 0x04034b50,
  descriptor: 0x08074b50,
  central: 0x02014b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
  end: 0x06054b50,
} as const;
const version = { plain: 20, zip64: 45 } as const; // 4.4.3
const madeByUnix = 3 << 8; // 4.4.2
const utf8Names = 1 << 11; // 4.4.4
const sizesFollow = 1 << 3; // 4.4.4
const limit32 = 0xffffffff;
const limit16 = 0xffff;
const fileMode = 0o100644;
const folderMode = 0o40755;

/** The earliest time of the format, in ms. It stands for an unknown time. */
const earliestTime = Date.UTC(1980, 0, 1);

/** Returns the MS-DOS date and time, in UTC (4.4.6): two-second steps since 1980. */
function dosTime(milliseconds: number | null): { time: number; date: number } {
  const date = new Date(Math.min(Math.max(milliseconds ?? earliestTime, earliestTime), Date.UTC(2107, 11, 31)));
  return {
    time: (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1),
    date: ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(),
  };
}

/** Returns the extra field with the time in seconds since the epoch, as Info-ZIP writes it (0x5455). */
function timeExtra(milliseconds: number | null): Buffer {
  const extra = Buffer.alloc(timeExtraLength);
  extra.writeUInt16LE(0x5455, 0);
  extra.writeUInt16LE(5, 2);
  extra.writeUInt8(1, 4);
  extra.writeInt32LE(Math.min(Math.max(Math.floor((milliseconds ?? earliestTime) / 1000), -(2 ** 31)), 2 ** 31 - 1), 5);
  return extra;
}

function zip64Extra(...values: number[]): Buffer {
  const extra = Buffer.alloc(zip64ExtraLength(values.length));
  extra.writeUInt16LE(0x0001, 0); // 4.5.3
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return extra;
}

const timeExtraLength = 9;
const zip64ExtraLength = (values: number) => (values === 0 ? 0 : 4 + 8 * values);

/** Returns the length of `localHeader`. @param name length in bytes @param withDescriptor whether a descriptor holds the sizes */
export const headerLength = (name: number, withDescriptor: boolean) =>
  30 + name + timeExtraLength + (withDescriptor ? zip64ExtraLength(2) : 0);

/** Length of `descriptor`. */
export const descriptorLength = 24;

/** Returns the length of `centralEntry`. @param name length in bytes */
export const centralLength = (name: number, size: number, offset: number) =>
  46 + name + timeExtraLength + zip64ExtraLength((size >= limit32 ? 2 : 0) + (offset >= limit32 ? 1 : 0));

/** Returns the length of `endOfArchive`. */
export const endLength = (count: number, size: number, offset: number) =>
  count < limit16 && size < limit32 && offset < limit32 ? 22 : 22 + 56 + 20;

/**
 * Returns the header before an item's content (4.3.7).
 * @param summary null: checksum and sizes follow the content, in a 64-bit descriptor
 */
export function localHeader(item: ZipItem, summary: ContentSummary | null): Buffer {
  const name = Buffer.from(item.name);
  const extra = summary ? timeExtra(item.modified) : Buffer.concat([timeExtra(item.modified), zip64Extra(0, 0)]);
  const head = Buffer.alloc(30);
  const { time, date } = dosTime(item.modified);
  head.writeUInt32LE(signature.local, 0);
  head.writeUInt16LE(summary ? version.plain : version.zip64, 4);
  head.writeUInt16LE(utf8Names | (summary ? 0 : sizesFollow), 6);
  head.writeUInt16LE(time, 10);
  head.writeUInt16LE(date, 12);
  head.writeUInt32LE(summary?.crc ?? 0, 14);
  head.writeUInt32LE(summary ? summary.size : limit32, 18);
  head.writeUInt32LE(summary ? summary.size : limit32, 22);
  head.writeUInt16LE(name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, name, extra]);
}

/** Returns the 64-bit descriptor after the content of an item whose header has no checksum and sizes (4.3.9). */
export function descriptor({ crc, size }: ContentSummary): Buffer {
  const tail = Buffer.alloc(descriptorLength);
  tail.writeUInt32LE(signature.descriptor, 0);
  tail.writeUInt32LE(crc, 4);
  tail.writeBigUInt64LE(BigInt(size), 8);
  tail.writeBigUInt64LE(BigInt(size), 16);
  return tail;
}

/** Returns an item's entry in the central directory (4.3.12). @param withDescriptor whether a descriptor holds its sizes */
export function centralEntry(item: ZipItem, { crc, size }: ContentSummary, offset: number, withDescriptor: boolean): Buffer {
  const name = Buffer.from(item.name);
  const isLarge = size >= limit32;
  const isFar = offset >= limit32;
  const zip64Values = [...(isLarge ? [size, size] : []), ...(isFar ? [offset] : [])];
  const extra = Buffer.concat([timeExtra(item.modified), ...(zip64Values.length > 0 ? [zip64Extra(...zip64Values)] : [])]);
  const head = Buffer.alloc(46);
  const { time, date } = dosTime(item.modified);
  head.writeUInt32LE(signature.central, 0);
  head.writeUInt16LE(madeByUnix | version.zip64, 4);
  head.writeUInt16LE(withDescriptor || zip64Values.length > 0 ? version.zip64 : version.plain, 6);
  head.writeUInt16LE(utf8Names | (withDescriptor ? sizesFollow : 0), 8);
  head.writeUInt16LE(time, 12);
  head.writeUInt16LE(date, 14);
  head.writeUInt32LE(crc, 16);
  head.writeUInt32LE(isLarge ? limit32 : size, 20);
  head.writeUInt32LE(isLarge ? limit32 : size, 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt16LE(extra.length, 30);
  head.writeUInt32LE(((item.name.endsWith('/') ? folderMode : fileMode) << 16) >>> 0, 38);
  head.writeUInt32LE(isFar ? limit32 : offset, 42);
  return Buffer.concat([head, name, extra]);
}

/** Returns the end records of the archive (4.3.14 to 4.3.16), with the 64-bit records if the numbers need them. */
export function endOfArchive(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(signature.end, 0);
  end.writeUInt16LE(Math.min(count, limit16), 8);
  end.writeUInt16LE(Math.min(count, limit16), 10);
  end.writeUInt32LE(Math.min(size, limit32), 12);
  end.writeUInt32LE(Math.min(offset, limit32), 16);
  if (count < limit16 && size < limit32 && offset < limit32) return end;
  const end64 = Buffer.alloc(56);
  end64.writeUInt32LE(signature.end64, 0);
  end64.writeBigUInt64LE(44n, 4);
  end64.writeUInt16LE(madeByUnix | version.zip64, 12);
  end64.writeUInt16LE(version.zip64, 14);
  for (const [index, value] of [count, count, size, offset].entries()) end64.writeBigUInt64LE(BigInt(value), 24 + 8 * index);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(signature.locator64, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end64, locator, end]);
}
