/**
 * The part of `npm run dev` that restarts: API, node API, gateway and worker, without console and hosts. It
 * is started in advance: dependencies are loaded immediately, our own sources on the message `load`, and it
 * runs on the message `go`.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';

enableCompileCache();
// Without `dev.ts` no process would end this one: before it runs it just exits, later it stops in good order.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));

const manifest = new URL('../../control-plane/package.json', import.meta.url);
const {
  dependencies,
}: {
  dependencies: Record<string, string>;
} = JSON.parse(readFileSync(manifest, 'utf8'));
const theirs = Object.keys(dependencies).filter((name) => !name.startsWith('@gpuaas/'));
// Must be there before the packages that extend it.
await import('reflect-metadata');
// A package without a main module is loaded with the source that knows which part it wants.
await Promise.allSettled(theirs.map((name) => import(name)));

await message('load');
const { runDevControlPlane } = await import('./run-dev-control-plane.ts');
process.send?.('loaded');
await message('go');
process.channel?.unref();
await runDevControlPlane();

async function message(word: string): Promise<void> {
  for (;;) {
    const [message] = (await once(process, 'message')) as [unknown];
    if (message === word) return;
  }
}
