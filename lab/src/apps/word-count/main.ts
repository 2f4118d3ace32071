import { createReadStream } from 'node:fs';
import { readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { countWords, mostFrequent } from './count-words.ts';
import { readSettings, type BatchSettings } from './batch-settings.ts';

/**
 * Counts the words of all text files below PARAM_INPUT. Exit codes: 0 done, 1 too many files cannot be read, 2 a parameter is
 * wrong, 143 stopped by SIGTERM before the end.
 */
const say = (fields: object): void => void process.stdout.write(`${JSON.stringify(fields)}\n`);

const settings = settingsOrExit();
process.on('SIGTERM', () => {
  say({ event: 'stopped' });
  process.exit(143);
});
process.exitCode = await run(settings);

async function run({ input, output, top, maxUnreadable }: BatchSettings): Promise<number> {
  const files = await listFiles(input);
  const counts = new Map<string, number>();
  const unreadable: string[] = [];
  for (const [index, file] of files.entries()) {
    await countFile(counts, file).catch((error: unknown) => {
      unreadable.push(file);
      say({ event: 'unreadable', file, reason: String(error) });
    });
    say({ event: 'progress', done: index + 1, of: files.length, distinct_words: counts.size });
  }
  if (files.length === 0 || unreadable.length > maxUnreadable) {
    say({ event: 'failed', files: files.length, unreadable: unreadable.length });
    return 1;
  }
  const words = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const result = { files: files.length, words, top: mostFrequent(counts, top) };
  if (output !== null) await writeWhole(output, `${JSON.stringify(result)}\n`);
  say({ event: 'done', ...(output === null ? result : { files: files.length, words, output }) });
  return 0;
}

/** By line, so that a file of any size fits into memory. */
async function countFile(counts: Map<string, number>, file: string): Promise<void> {
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });
  for await (const line of lines) countWords(counts, line);
}

async function listFiles(input: string): Promise<string[]> {
  const found = await stat(input).catch(() => null);
  if (found?.isFile()) return [input];
  if (!found?.isDirectory()) return [];
  const entries = await readdir(input, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
}

/** A reader of the output sees the whole result or none. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}

function settingsOrExit(): BatchSettings {
  try {
    return readSettings(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
