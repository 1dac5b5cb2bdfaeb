// The process that decodes and encodes images. It has no network and no write access. It loads native code, so the only documents
// that it reads are images in three formats.
import { ImageTasks } from './image/run-image-tasks.ts';
import { MarkFonts } from './mark/fonts.ts';
import { serveTasks } from './sandbox/serve-tasks.ts';

const tasks = new ImageTasks(new MarkFonts());
await serveTasks((frame) => tasks.run(frame));
