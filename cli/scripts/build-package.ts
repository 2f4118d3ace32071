import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const cli = fileURLToPath(new URL('../', import.meta.url));

/** The `gpuaas` command as a package that needs nothing but Node, ready for `npm pack`. */
export async function buildPackage(out: string): Promise<void> {
  const {
    version,
    license,
  }: {
    version: string;
    license: string;
  } = JSON.parse(await readFile(join(cli, 'package.json'), 'utf8'));
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const bundle = await rolldown({ input: join(cli, 'src/main.ts'), platform: 'node' });
  await bundle.write({
    dir: out,
    format: 'esm',
    entryFileNames: 'gpuaas.js',
    // What few commands need is loaded by those alone.
    chunkFileNames: 'parts/[name].js',
    minify: true,
  });
  await bundle.close();
  await chmod(join(out, 'gpuaas.js'), 0o755);
  await cp(join(cli, '../LICENSE'), join(out, 'LICENSE'));
  await cp(join(cli, 'README.md'), join(out, 'README.md'));
  const description = 'The gpuaas command: lease GPUs, run a GPU cloud';
  const manifest = {
    name: '@gpuaas/cli',
    version,
    description,
    license,
    type: 'module',
    bin: { gpuaas: 'gpuaas.js' },
    engines: { node: '>=20' },
  };
  await writeFile(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
