import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SNAPSHOT, UPDATES, type Recipe, type Vendor } from './recipes.ts';
import { runTool } from './run-tool.ts';

const FINISH = fileURLToPath(new URL('finish-root.sh', import.meta.url));

export interface Package {
  name: string;
  version: string;
}

/**
 * The root file system as a sorted archive with clamped times, and its packages; from the `mirror` if one is
 * given.
 */
export async function buildRoot(
  recipe: Recipe,
  work: string,
  mirror?: string,
): Promise<{ archive: string; packages: Package[] }> {
  const keyring = await fetchKeyring(work, mirror ?? SNAPSHOT.mirror);
  const vendors = await Promise.all(recipe.vendors.map((vendor, index) => fetchVendor(vendor, work, index)));
  const [archive, list] = [join(work, 'root.tar'), join(work, 'packages')];
  const without = ['doc', 'man', 'info', 'locale'].map(
    (name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
  );
  // Its mounts end with it, however it ends, so leftovers can be deleted.
  runTool(
    'unshare',
    [
      '--mount',
      'mmdebstrap',
      '--mode=root',
      '--variant=minbase',
      '--format=tar',
      '--architectures=amd64',
      `--keyring=${keyring}`,
      '--aptopt=Acquire::Languages "none"',
      // A snapshot is expired by design.
      '--aptopt=Acquire::Check-Valid-Until "false"',
      '--aptopt=APT::Install-Recommends "false"',
      ...without,
      `--include=${recipe.packages.join(',')}`,
      `--customize-hook=sh ${FINISH} "$1" ${list}`,
      recipe.suite,
      archive,
      ...aptSources(recipe, mirror),
      ...vendors,
    ],
    { env: { SOURCE_DATE_EPOCH: String(SNAPSHOT.epoch), TMPDIR: work, DEBIAN_FRONTEND: 'noninteractive' } },
  );
  return { archive, packages: readPackages(readFileSync(list, 'utf8')) };
}

export function aptSources({ sources }: Pick<Recipe, 'sources'>, mirror?: string): string[] {
  return sources.map((source) =>
    source.replace('{mirror}', mirror ?? SNAPSHOT.mirror).replace('{updates}', mirror ?? UPDATES.mirror),
  );
}

/** `name version` by line. */
export function readPackages(text: string): Package[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(/\s+/))
    .map(([name = '', version = '']) => ({ name, version }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Packages in the image that the recipe forbids. */
export function forbiddenPackages(recipe: Pick<Recipe, 'never'>, packages: readonly Package[]): string[] {
  return packages.map(({ name }) => name).filter((name) => recipe.never.some((start) => isOf(name, start)));
}

/**
 * `gcc` also matches `gcc-13`, but not `gcc-13-base`, which every C library brings and which compiles
 * nothing.
 */
function isOf(name: string, start: string): boolean {
  if (/^gcc-\d+-base(:|$)/.test(name)) return false;
  return start.endsWith('-') ? name.startsWith(start) : new RegExp(`^${escape(start)}(-\\d|:|$)`).test(name);
}

function escape(text: string): string {
  return text.replaceAll(/[+.]/g, String.raw`\$&`);
}

async function fetchKeyring(work: string, mirror: string): Promise<string> {
  const file = join(work, 'keyring.deb');
  writeFileSync(file, await fetchPinned(`${mirror}/${SNAPSHOT.keyring}`, SNAPSHOT.keyringSha256));
  const folder = join(work, 'keyring');
  mkdirSync(folder, { recursive: true });
  runTool('dpkg-deb', ['--extract', file, folder]);
  return join(folder, 'usr/share/keyrings/ubuntu-archive-keyring.gpg');
}

async function fetchVendor(vendor: Vendor, work: string, index: number): Promise<string> {
  const file = join(work, `vendor-${index}.asc`);
  writeFileSync(file, await fetchFile(vendor.keyUrl));
  const keys = runTool('gpg', ['--homedir', work, '--show-keys', '--with-colons', file]);
  const fingerprints = [...keys.matchAll(/^fpr:+([0-9A-F]{40}):/gm)].map(([, found]) => found);
  if (fingerprints[0] !== vendor.keyFingerprint)
    throw new Error(`${vendor.keyUrl} is not the key that was pinned, but ${fingerprints[0] ?? 'none'}`);
  return vendor.source.replace('{key}', file);
}

async function fetchFile(url: string): Promise<Buffer> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(120_000) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

async function fetchPinned(url: string, sha256: string): Promise<Buffer> {
  const content = await fetchFile(url);
  const found = createHash('sha256').update(content).digest('hex');
  if (found !== sha256) throw new Error(`${url} is not what was pinned: sha256 ${found}`);
  return content;
}
