/**
 * Options of Node.js for the memory of the server. A small young generation: an idle Postern takes 115 MiB instead of 125. A heap that
 * doubles instead of growing fourfold before unused objects are collected: a flood of archives and listings takes less memory. If it
 * grew by half, garbage collection would take a sixth of the CPU time of small requests.
 */
export const memoryFlags = ['--max-semi-space-size=4', '--heap-growing-percent=100'];
