import { addCount } from '#core/count-by-key.ts';

const separator = '@';

/** Returns the name of the file that reserves bytes for an upload. The file is empty. */
export const reservationFile = (name: string, bytes: number): string => `${name}${separator}${bytes}`;

/** Returns the name of the upload that a file, or a reservation, belongs to. */
export const uploadOf = (file: string): string => file.split(separator, 1)[0] ?? '';

/** @param upload begins with the id of the tenant and `-` */
const tenantOf = (upload: string) => upload.slice(0, upload.indexOf('-'));

/** The bytes that are reserved for uploads. An upload can have several reservations for a moment: the largest one counts. */
export class ReservedBytes {
  readonly #byUpload = new Map<string, Set<number>>();
  readonly #byTenant = new Map<string, number>();
  #total = 0;

  /** Adds a file of the folder that contains the uploads and reservations. A file that is not a reservation does not count. */
  addFile(file: string): void {
    if (file.includes(separator)) this.add(uploadOf(file), Number(file.slice(file.indexOf(separator) + 1)));
  }

  get total(): number {
    return this.#total;
  }

  /** Returns the bytes of all uploads of the tenant that the upload belongs to. */
  ofTenant(upload: string): number {
    return this.#byTenant.get(tenantOf(upload)) ?? 0;
  }

  /** Returns the reservations of an upload, in bytes. */
  of(upload: string): number[] {
    return [...(this.#byUpload.get(upload) ?? [])];
  }

  all(): { readonly upload: string; readonly bytes: number }[] {
    return [...this.#byUpload].flatMap(([upload, reservations]) => Array.from(reservations, (bytes) => ({ upload, bytes })));
  }

  add(upload: string, bytes: number): void {
    this.#change(upload, (reservations) => reservations.add(bytes));
  }

  delete(upload: string, bytes: number): void {
    this.#change(upload, (reservations) => reservations.delete(bytes));
  }

  #change(upload: string, change: (reservations: Set<number>) => void): void {
    const reservations = this.#byUpload.get(upload) ?? new Set();
    const before = Math.max(0, ...reservations);
    change(reservations);
    const difference = Math.max(0, ...reservations) - before;
    if (reservations.size > 0) this.#byUpload.set(upload, reservations);
    else this.#byUpload.delete(upload);
    this.#total += difference;
    addCount(this.#byTenant, tenantOf(upload), difference);
  }
}
