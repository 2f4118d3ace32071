import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publicModules } from './public-modules.ts';

const run = promisify(execFile);
const sdk = fileURLToPath(new URL('../', import.meta.url));
const root = join(sdk, '..');

/** Parts of the contract that the SDK includes, so that users do not need the contract package. */
const CONTRACT_FILES = [
  'generated/events.ts',
  'generated/openapi.ts',
  'generated/operations.ts',
  'generated/permissions.ts',
  'generated/problems.ts',
  'generated/reasons.ts',
  'src/pipe-socket.ts',
  'src/operations.ts',
  'src/signing.ts',
  'src/wipe-certificate.ts',
];

/** The SDK as JavaScript with types, ready for `npm pack` and `npm publish`. */
export async function buildPackage(out: string): Promise<void> {
  await mkdir(join(sdk, 'dist'), { recursive: true });
  // Below the repository, where the compiler finds our dependencies.
  const stage = await mkdtemp(join(sdk, 'dist', 'stage-'));
  try {
    await stageSources(stage);
    await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    await run(join(root, 'node_modules/.bin/tsc'), ['-p', stage, '--outDir', join(out, 'dist')], {
      cwd: root,
    });
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
  for (const file of ['README.md', 'REFERENCE.md']) await cp(join(sdk, file), join(out, file));
  await cp(join(root, 'LICENSE'), join(out, 'LICENSE'));
  await writeFile(join(out, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`);
}

async function stageSources(stage: string): Promise<void> {
  for (const file of CONTRACT_FILES)
    await stageFile(join(root, 'contracts', file), join(stage, 'contracts', file));
  for (const file of await readdir(join(sdk, 'src')))
    if (!file.endsWith('.test.ts')) await stageFile(join(sdk, 'src', file), join(stage, file));
  const compilerOptions = {
    ...(JSON.parse(await readFile(join(root, 'tsconfig.base.json'), 'utf8')) as { compilerOptions: object })
      .compilerOptions,
    target: 'es2022',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: '.',
  };
  await writeFile(join(stage, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
}

async function stageFile(from: string, to: string): Promise<void> {
  await mkdir(join(to, '..'), { recursive: true });
  const text = await readFile(from, 'utf8');
  const inside = text.replaceAll(/'@gpuaas\/contracts\/([^']+)'/g, (_, path: string) =>
    path.startsWith('generated/') ? `'./contracts/${path}'` : `'./contracts/src/${path}.ts'`,
  );
  await writeFile(to, inside);
}

async function manifest(): Promise<object> {
  const read = async (folder: string) =>
    JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as {
      version: string;
      license: string;
      description: string;
      dependencies: Record<string, string>;
    };
  const [own, contracts] = await Promise.all([read('sdk'), read('contracts')]);
  const entry = (name: string): [string, object] => [
    `./${name}`,
    { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
  ];
  return {
    name: '@gpuaas/sdk',
    version: own.version,
    description: own.description,
    license: own.license,
    type: 'module',
    sideEffects: false,
    exports: Object.fromEntries(publicModules.map((name) => entry(name))),
    files: ['dist', 'REFERENCE.md'],
    engines: { node: '>=20' },
    dependencies: {
      canonicalize: contracts.dependencies['canonicalize'],
      'openapi-fetch': own.dependencies['openapi-fetch'],
    },
  };
}
