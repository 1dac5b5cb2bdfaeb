/**
 * Options of Node.js for the memory of the server. A small young generation saves 10 MiB in an idle Postern. The heap may
 * only double before garbage collection (default: fourfold), so that many archives and listings at once take less memory.
 * With growth by half, garbage collection would take a sixth of the CPU time of small requests.
 */
export const memoryFlags = ['--max-semi-space-size=4', '--heap-growing-percent=100'];
