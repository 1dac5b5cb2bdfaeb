/** Largest body of a management call, in bytes. */
export const largestBody = 1 << 20;

/** Largest JSON body of a request that anybody may send, in bytes: reading a long one costs others their turn. */
export const largestOpenBody = 1 << 14;
