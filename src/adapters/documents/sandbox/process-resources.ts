import { writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';

const lowPriority = constants.priority.PRIORITY_BELOW_NORMAL;
const firstToKill = '1000'; // the kernel ends this process first if the machine runs out of memory

/** Lowers the priority of a process, and of those that it starts later. If memory runs out, the kernel ends them first. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, lowPriority);
    writeFileSync(`/proc/${pid}/oom_score_adj`, firstToKill);
  } catch {
    // not on Linux, or the process has ended already
  }
}

/** Returns the memory of a process in MiB; 0 if the system does not tell it. */
export async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kibibytes = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kibibytes) / 1024;
}

/** Returns the processes that a process has started. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** Returns the memory of a process and of all processes below it, in MiB. */
export async function memoryOfTree(pid: number): Promise<number> {
  const children = await childrenOf(pid);
  const memories = await Promise.all([memoryOf(pid), ...children.map(memoryOfTree)]);
  return memories.reduce((sum, memory) => sum + memory, 0);
}
