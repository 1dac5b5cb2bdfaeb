import type { WrappedPdfiumModule } from '@embedpdf/pdfium';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';

/** Bytes in the memory of PDFium. Disposal frees them. */
export interface PdfiumBytes extends Disposable {
  readonly address: number;
}

/** Reserves memory of PDFium. @throws TaskRefused (`memory`) */
export function allocate({ pdfium }: WrappedPdfiumModule, length: number): PdfiumBytes {
  const address = pdfium.wasmExports.malloc(length);
  if (address === 0) throw new TaskRefused('memory');
  return { address, [Symbol.dispose]: () => pdfium.wasmExports.free(address) };
}

/** Copies bytes into the memory of PDFium. @throws TaskRefused (`memory`) */
export function copyIn(module: WrappedPdfiumModule, bytes: Uint8Array): PdfiumBytes {
  const reserved = allocate(module, bytes.length);
  module.pdfium.HEAPU8.set(bytes, reserved.address);
  return reserved;
}

/** Returns a copy of bytes in the memory of PDFium. That memory moves when it grows, so nobody may keep a view of it. */
export const copyOut = ({ pdfium }: WrappedPdfiumModule, address: number, length: number): Uint8Array =>
  pdfium.HEAPU8.slice(address, address + length);
