// The process that reads, draws and marks PDF documents. It has neither network nor write access, and loads no native code.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { init } from '@embedpdf/pdfium';
import { MarkFonts } from './mark/fonts.ts';
import { loadJpegEncoder } from './pdf/jpeg-encoder.ts';
import { PdfTasks } from './pdf/run-pdf-tasks.ts';
import { serveTasks } from './sandbox/serve-tasks.ts';

const wasm = readFileSync(createRequire(import.meta.url).resolve('@embedpdf/pdfium/pdfium.wasm'));
const pdfium = await init({ wasmBinary: wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength) });
pdfium.PDFiumExt_Init();
const tasks = new PdfTasks(pdfium, new MarkFonts(), await loadJpegEncoder());
await serveTasks((frame) => tasks.run(frame));
