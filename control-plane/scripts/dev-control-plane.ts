/**
 * The part of `npm run dev` that restarts: API, node API, gateway and worker, without console and hosts. It is started
 * ahead of its time: what it depends on is loaded at once, our own sources when it is told to `load`, and it runs
 * when it is told to `go`.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';

enableCompileCache();
// Without `dev.ts` nobody would end this process: before it runs it just goes, later it stops in good order.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));

const manifest = new URL('../package.json', import.meta.url);
const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as {
  dependencies: Record<string, string>;
};
const theirs = Object.keys(dependencies).filter((name) => !name.startsWith('@gpuaas/'));
// Must be there before the packages that extend it.
await import('reflect-metadata');
// A package without a main module is loaded with the source that knows which part it wants.
await Promise.allSettled(theirs.map((name) => import(name)));

await told('load');
const { runDevControlPlane } = await import('./run-dev-control-plane.ts');
process.send?.('loaded');
await told('go');
process.channel?.unref();
await runDevControlPlane();

async function told(word: string): Promise<void> {
  for (;;) {
    const [message] = (await once(process, 'message')) as [unknown];
    if (message === word) return;
  }
}
