const FILES = import.meta.glob<string>('../../../docs/runbooks/*.md', { query: '?raw', import: 'default' });

/** The text of a runbook in the repository, by the path in an incident; null when there is none. */
export async function readRunbook(path: string): Promise<string | null> {
  const name = path.split('/').at(-1);
  const load = FILES[`../../../docs/runbooks/${name}`];
  return load ? await load() : null;
}
