/** `npm run images:build -- base|cuda|lab`: builds an image reproducibly, byte for byte. */
import { createHash, createPrivateKey } from 'node:crypto';
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { signImageStatement, type ImageStatement } from '@gpuaas/contracts/image-statement';
import { isKeyOf } from '@gpuaas/contracts/typed-keys';
import { buildDisk } from './build-disk.ts';
import { buildRoot, forbiddenPackages } from './build-root.ts';
import { recipes, SNAPSHOT, type Recipe, type RecipeName } from './recipes.ts';

/** Files that decide the bytes beside the packages. */
const PARTS = ['recipes.ts', 'build-root.ts', 'build-disk.ts', 'finish-root.sh'];

export interface BuiltImage {
  file: string;
  statement: ImageStatement;
}

export interface BuildOptions {
  /** Where the image goes. */
  out: string;
  mirror?: string;
  /** Creates each build's folder; its file system must hold the root twice. */
  scratch?: string;
}

export async function buildImage(name: RecipeName, options: BuildOptions): Promise<BuiltImage> {
  const recipe: Recipe = recipes[name];
  mkdirSync(options.out, { recursive: true });
  const work = mkdtempSync(join(resolve(options.scratch ?? options.out), '.build-'));
  try {
    const { archive, packages } = await buildRoot(recipe, work, options.mirror);
    const forbidden = forbiddenPackages(recipe, packages);
    if (forbidden.length > 0) throw new Error(`${name} must not contain ${forbidden.join(', ')}`);
    const file = join(options.out, `${recipe.image}.qcow2`);
    buildDisk(archive, recipe.rootMib, work, file);
    const statement: ImageStatement = {
      version: 1,
      image: recipe.image,
      kind: recipe.kind,
      digest: `sha256:${await sha256Of(file)}`,
      bytes: statSync(file).size,
      readiness_checks: [...recipe.readinessChecks],
      recipe_sha256: recipeDigest(name),
      snapshot: SNAPSHOT.at,
      packages,
    };
    return { file, statement };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

export function recipeDigest(name: RecipeName): string {
  const digest = createHash('sha256').update(name);
  for (const part of PARTS) digest.update(readFileSync(new URL(part, import.meta.url)));
  return digest.digest('hex');
}

async function sha256Of(file: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: 'string', default: 'images' },
      mirror: { type: 'string' },
      key: { type: 'string' },
    },
  });
  const [name] = positionals;
  if (!name || !isKeyOf(recipes, name)) throw new Error(`Say which: ${Object.keys(recipes).join(', ')}.`);
  if (process.getuid?.() !== 0) throw new Error('Only root can build a root file system.');
  const mirror = values.mirror === undefined ? {} : { mirror: values.mirror };
  const { file, statement } = await buildImage(name, { out: values.out, ...mirror });
  const key = values.key === undefined ? null : createPrivateKey(readFileSync(values.key));
  const said = key ? signImageStatement(statement, key) : { statement };
  writeFileSync(`${file}.json`, `${JSON.stringify(said, null, 2)}\n`);
  console.log(`${file}\n${statement.digest}${key ? ', signed' : ', not signed: pass --key to sign it'}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
