/**
 * Options of Node.js for the memory of the server. With a small young generation, an idle Postern
 * takes 115 MiB instead of 125. The heap may double, instead of growing fourfold, before unused
 * objects are collected, so that a flood of archives and listings takes less memory. If it could
 * grow only by half, garbage collection would take a sixth of the CPU time of small requests.
 */
export const memoryFlags = ['--max-semi-space-size=4', '--heap-growing-percent=100'];
