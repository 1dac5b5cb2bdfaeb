import { extname } from 'node:path';

/** The script of a thread beside its module: TypeScript in a checkout, JavaScript once built. */
export const threadUrl = (name: string, beside: string) => new URL(`${name}${extname(new URL(beside).pathname)}`, beside);
