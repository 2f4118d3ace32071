import { readFile } from 'node:fs/promises';
import { APP_NAMES } from '@gpuaas/lab/apps/build/build-app';
import { DEMO_MANIFESTS, type DemoManifest } from '@gpuaas/lab/apps/manifests/demo-manifests';
import { describe, expect, it } from 'vitest';
import { startApp } from '../../harness/demo-apps/app-process.ts';

const services = DEMO_MANIFESTS.filter(({ kind }) => kind === 'service');

/** As the member runner sets them. */
function environment({ runtime_profile, parameters }: DemoManifest): Record<string, string> {
  return Object.fromEntries([
    ...runtime_profile.env.map(({ name, value }) => [name, value]),
    ...parameters.flatMap(({ name, default: value }) =>
      value === undefined ? [] : [[`PARAM_${name.toUpperCase()}`, value]],
    ),
  ]);
}

describe('the manifests of the demo apps', () => {
  it('are there for every app', () => {
    expect(DEMO_MANIFESTS.map(({ slug }) => slug).toSorted()).toEqual([...APP_NAMES].toSorted());
  });

  it.each(services)('$slug is ready with its defaults, on a port that it declares', async (manifest) => {
    const { runtime_profile } = manifest;
    const [port] = runtime_profile.ports;
    const env = environment(manifest);
    expect(env['PORT']).toBe(String(port?.port));
    expect(runtime_profile.readiness?.port).toBe(port?.name);
    // The declared port may be taken on this machine.
    const app = await startApp(manifest.slug, { ...env, PORT: '0' });
    const answer = await fetch(`${app.url}${runtime_profile.readiness?.path}`);
    expect(answer.status).toBe(200);
    await app.stop();
  });

  it.each(DEMO_MANIFESTS)('$slug reads every parameter of its manifest', async ({ slug, parameters }) => {
    const files = { notebook: 'notebook-settings', 'tiny-llm': 'settings', 'word-count': 'batch-settings' };
    const file = Object.entries(files).find(([app]) => app === slug)?.[1];
    const code = file
      ? await readFile(new URL(`../../../lab/src/apps/${slug}/${file}.ts`, import.meta.url), 'utf8')
      : '';
    const unread = parameters.filter(({ name }) => !code.includes(`'PARAM_${name.toUpperCase()}'`));
    expect(unread).toEqual([]);
  });
});
