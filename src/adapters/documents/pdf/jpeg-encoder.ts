import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import load from '@cornerstonejs/codec-libjpeg-turbo-8bit/wasmjs';
import type { Picture } from './pdf-document.ts';

const quality = 85;
const halfColour = 2; // 4:2:0

/** Returns a picture as a JPEG. */
export type EncodeJpeg = (picture: Picture) => Uint8Array;

/** Loads the encoder: libjpeg-turbo as WebAssembly. */
export async function loadJpegEncoder(): Promise<EncodeJpeg> {
  const wasmBinary = readFileSync(createRequire(import.meta.url).resolve('@cornerstonejs/codec-libjpeg-turbo-8bit/wasm'));
  const { JPEGEncoder } = await load({ wasmBinary });
  const encoder = new JPEGEncoder();
  encoder.setQuality(quality);
  encoder.setProgressive(false);
  encoder.setSubSampling(halfColour);
  return ({ data, width, height }) => {
    encoder.getDecodedBuffer({ width, height, bitsPerSample: 8, componentCount: 3, isSigned: false }).set(data);
    encoder.encode();
    return encoder.getEncodedBuffer().slice();
  };
}
