/**
 * Options of Node.js for the memory of the server. A small young generation: an idle Postern takes 115 MiB instead of 125. A heap that
 * grows by half instead of fourfold before unused objects are collected: a flood of archives and listings takes 650 MiB instead of 900.
 */
export const memoryFlags = ['--max-semi-space-size=4', '--heap-growing-percent=50'];
