import { mkdir } from 'node:fs/promises';
import { serveApp } from '../web/serve-app.ts';
import { findJupyter } from './find-jupyter.ts';
import { runInterrupter } from './kernel/interrupter.ts';
import { runKernel } from './kernel/run-kernel.ts';
import { readSettings } from './notebook-settings.ts';
import { runJupyter } from './run-jupyter.ts';
import { notebookServer } from './server/notebook-server.ts';

const DEFAULT_PORT = 8888;

/** One file is the server, the process of each kernel, and the thread in it that interrupts. */
const part = process.argv[2];
if (part === 'kernel') runKernel();
else if (part === 'interrupter') runInterrupter();
else await serve();

async function serve(): Promise<void> {
  const settings = readSettings(process.env);
  await mkdir(settings.folder, { recursive: true });
  const jupyter = settings.engine === 'javascript' ? null : findJupyter();
  if (jupyter) return runJupyter(jupyter, settings, process.env['PORT'] ?? String(DEFAULT_PORT));
  if (settings.engine === 'jupyter') throw new Error('This machine has no Jupyter');
  await serveApp(notebookServer(settings), DEFAULT_PORT);
}
