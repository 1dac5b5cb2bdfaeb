declare module '@cornerstonejs/codec-libjpeg-turbo-8bit/wasmjs' {
  interface FrameInfo {
    readonly width: number;
    readonly height: number;
    readonly bitsPerSample: 8;
    /** 3: red, green, blue. */
    readonly componentCount: 3;
    readonly isSigned: false;
  }

  interface JPEGEncoder {
    /** @param quality from 1 to 100 */
    setQuality(quality: number): void;
    setProgressive(isProgressive: boolean): void;
    /** @param subsampling 0: 4:4:4; 1: 4:2:2; 2: 4:2:0 */
    setSubSampling(subsampling: number): void;
    /** Returns the memory for the pixels of an image. It is valid until the memory of the module grows. */
    getDecodedBuffer(frame: FrameInfo): Uint8Array;
    encode(): void;
    /** Returns the memory with the JPEG. It is valid until the next call of any method. */
    getEncodedBuffer(): Uint8Array;
  }

  interface LibjpegTurbo {
    readonly JPEGEncoder: new () => JPEGEncoder;
  }

  export default function load(options: { readonly wasmBinary: Uint8Array }): Promise<LibjpegTurbo>;
}
