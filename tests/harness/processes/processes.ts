import { readdir, readFile } from 'node:fs/promises';

/** Running processes that were started with one of the places in their command line. */
export async function processesIn(places: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (places.some((place) => command.includes(place))) found.push(`${pid} ${command}`);
  }
  return found;
}
