// The process that reads PKCS #12 files. It has neither network nor write access, and ends after one task.
import Type from 'typebox';
import { noBytes } from './sandbox/frames.ts';
import { parseHeader } from './sandbox/parse-header.ts';
import { serveTasks } from './sandbox/serve-tasks.ts';
import { readPkcs12 } from './signature/read-pkcs12.ts';

const Task = Type.Object({ password: Type.String() });

await serveTasks(async ({ header, bytes }) => ({ header: { ...readPkcs12(bytes, parseHeader(Task, header).password) }, bytes: noBytes }));
