import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { APP_NAMES, buildApp } from './build-app.ts';

/** `node build-apps-main.ts <folder>` writes each app as `<app>.mjs` and prints its digest. */
const folder = process.argv[2];
if (!folder) throw new Error('Name the folder to write to');
await mkdir(folder, { recursive: true });
for (const app of APP_NAMES) {
  const { bytes, digest } = await buildApp(app);
  await writeFile(join(folder, `${app}.mjs`), bytes);
  process.stdout.write(`${app} ${digest} ${bytes.length} bytes\n`);
}
