import type { Dispatcher } from 'undici';

/**
 * Returns the piece, or a copy if the piece is less than half of its buffer: the piece keeps the entire buffer in memory, which may
 * contain, for example, a long chunk extension.
 */
const ownPiece = (piece: Buffer): Buffer => (piece.length < piece.buffer.byteLength / 2 ? Buffer.from(piece) : piece);

/** Copies pieces that would keep much more memory in use than they need. undici passes on parts of what the socket has read. */
export const copyPieces: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, status, headers, message) => handler.onResponseStart?.(controller, status, headers, message),
    onResponseData: (controller, piece) => handler.onResponseData?.(controller, ownPiece(piece)),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, cause) => handler.onResponseError?.(controller, cause),
  });
