/** Builds `cli/dist/package`: the `gpuaas` command as one file that needs nothing but Node, ready for `npm pack`. */
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const cli = new URL('../', import.meta.url);
const out = new URL('dist/package/', cli);
const { version, license } = JSON.parse(await readFile(new URL('package.json', cli), 'utf8')) as {
  version: string;
  license: string;
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const bundle = await rolldown({
  input: fileURLToPath(new URL('src/main.ts', cli)),
  platform: 'node',
});
await bundle.write({ dir: fileURLToPath(out), format: 'esm', entryFileNames: 'gpuaas.js', minify: true });
await bundle.close();
await chmod(new URL('gpuaas.js', out), 0o755);
await cp(new URL('../LICENSE', cli), new URL('LICENSE', out));
await cp(new URL('README.md', cli), new URL('README.md', out));
await writeFile(
  new URL('package.json', out),
  `${JSON.stringify(
    {
      name: '@gpuaas/cli',
      version,
      description: 'The gpuaas command: lease GPUs, run a GPU cloud',
      license,
      type: 'module',
      bin: { gpuaas: 'gpuaas.js' },
      engines: { node: '>=20' },
    },
    null,
    2,
  )}\n`,
);
