import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const source = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
int fsync(int fd) { static int (*real)(int); if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync"); usleep(2000); return real(fd); }
int fdatasync(int fd) { static int (*real)(int); if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync"); usleep(2000); return real(fd); }
`;

/** Returns an environment in which an fsync or fdatasync takes 2 ms longer, or null without a C compiler. */
export function slowDiskEnvironment(folder: string): Record<string, string> | null {
  const [code, library] = [join(folder, 'slow.c'), join(folder, 'slow.so')];
  writeFileSync(code, source);
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, code, '-ldl'], { stdio: 'ignore' });
  return status === 0 ? { LD_PRELOAD: library } : null;
}
