import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPackage } from '../../../sdk/scripts/build-package.ts';
import { chromiumPath, openBrowser } from '../../harness/console/browser.ts';
import type { SeenInBrowser } from '../../harness/console/sdk-in-browser.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let platform: TestPlatform;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-sdk-'));
  platform = await startTestPlatform({ nodes: 1 });
  await install();
}, 180_000);
afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** From its tarball, beside the dependencies that it declares. */
async function install(): Promise<void> {
  await buildPackage(join(folder, 'built'));
  const npm = (cwd: string, ...args: string[]) =>
    run('npm', args, { cwd, env: { ...process.env, npm_config_offline: 'true' } });
  const { stdout } = await npm(folder, 'pack', './built', '--json');
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const { dependencies } = JSON.parse(await readFile(join(folder, 'built/package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '@gpuaas/sdk'), { recursive: true });
  await run('tar', [
    '-xzf',
    join(folder, filename),
    '--strip-components=1',
    '-C',
    join(modules, '@gpuaas/sdk'),
  ]);
  for (const name of [
    ...Object.keys(dependencies),
    'openapi-typescript-helpers',
    '@types/node',
    'undici-types',
  ])
    await cp(join(ROOT, 'node_modules', name), join(modules, name), { recursive: true });
}

const credentials = (key: 'member' | 'admin' = 'member') => ({
  PATH: process.env['PATH'],
  GPUAAS_URL: platform.baseUrl,
  GPUAAS_API_KEY: platform.keys[key],
});

describe('the packed SDK', () => {
  it('has types that strict programs compile against, and refuses what the contract does not know', async () => {
    const begin = [
      `import { createGpuaasClient } from '@gpuaas/sdk/client';`,
      `import { unwrap } from '@gpuaas/sdk/problem';`,
      `const client = createGpuaasClient({ baseUrl: 'http://127.0.0.1' });`,
    ];
    const right = [
      ...begin,
      `const { items } = await unwrap(client.GET('/api/v1/skus'));`,
      `export const price: number = items[0]!.price_per_gpu_hour.micros;`,
    ];
    await writeFile(join(folder, 'right.mts'), right.join('\n'));
    await writeFile(
      join(folder, 'wrong.mts'),
      [...begin, `unwrap(client.GET('/api/v1/unicorns', {}));`].join('\n'),
    );
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', 'node'];
    const compile = (file: string, module: string, resolution: string) =>
      run(
        join(ROOT, 'node_modules/.bin/tsc'),
        [...options, '--module', module, '--moduleResolution', resolution, file],
        { cwd: folder },
      ).then(
        () => '',
        ({ stdout }: { stdout: string }) => stdout,
      );
    expect(await compile('right.mts', 'nodenext', 'nodenext')).toBe('');
    expect(await compile('right.mts', 'esnext', 'bundler')).toBe('');
    expect(await compile('wrong.mts', 'nodenext', 'nodenext')).toContain('/api/v1/unicorns');
  });

  it.skipIf(!chromiumPath)('works in a browser (needs chromium)', async () => {
    const browser = await openBrowser();
    try {
      const page = await openPage(await browser.newContext().then((context) => context.newPage()));
      const given = JSON.stringify({ apiKey: platform.keys.admin, projectId: platform.projectId });
      const seen = await page.evaluate<SeenInBrowser>(
        `import('/sdk/page.js').then((page) => page.useSdk(${given}))`,
      );
      expect(seen.email).toBe('admin@acme.test');
      expect(seen.groups.length).toBeGreaterThan(2);
      expect(new Set(seen.groups).size).toBe(seen.groups.length);
      expect(seen.refusal).toBe('not_found');
      expect(seen.event).toMatch(/^allocation\./);
    } finally {
      await browser.close();
    }
  });
});

/** The installed files as the platform's own pages would have them. */
async function openPage(page: Page): Promise<Page> {
  await page.route(`${platform.baseUrl}/sdk/**`, async (route) => {
    const path = new URL(route.request().url()).pathname.slice('/sdk/'.length);
    const body =
      path === ''
        ? HTML
        : path === 'page.js'
          ? PAGE
          : await readFile(join(folder, 'node_modules', path), 'utf8');
    await route.fulfill({ body, contentType: path === '' ? 'text/html' : 'text/javascript' });
  });
  await page.goto(`${platform.baseUrl}/sdk/`);
  return page;
}

const PAGE = stripTypeScriptTypes(
  readFileSync(join(ROOT, 'tests/harness/console/sdk-in-browser.ts'), 'utf8'),
);
const HTML = `<!doctype html><script type="importmap">${JSON.stringify({
  imports: {
    '@gpuaas/sdk/client': '/sdk/@gpuaas/sdk/dist/client.js',
    '@gpuaas/sdk/events': '/sdk/@gpuaas/sdk/dist/events.js',
    '@gpuaas/sdk/paginate': '/sdk/@gpuaas/sdk/dist/paginate.js',
    '@gpuaas/sdk/problem': '/sdk/@gpuaas/sdk/dist/problem.js',
    'openapi-fetch': '/sdk/openapi-fetch/dist/index.mjs',
  },
})}</script>`;

describe('the examples', () => {
  const example = (name: string) =>
    run(process.execPath, [join(ROOT, 'sdk/examples', name)], { env: credentials(), timeout: 280_000 });

  it('do what they say', async () => {
    const following = example('follow-events.ts');
    await once(following.child.stderr!, 'data');
    const { stdout } = await example('launch-and-release.ts');
    expect(stdout).toMatch(/^(\S+) is active\n\1 is released\n$/);
    const name = stdout.split(' ')[0]!;
    expect((await example('list-everything.ts')).stdout).toContain(`${name} released`);
    expect((await following).stdout).toMatch(/allocation\.active[^]*allocation\.released\n$/);
  }, 300_000);
});
