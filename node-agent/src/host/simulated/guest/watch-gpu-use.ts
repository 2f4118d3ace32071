import { gpuProcesses, gpuUse, writeGpuUse } from './gpu-use.ts';

const EVERY_MS = 2_000;

/** Keeps the file with the guest's GPU use up to date. `roots` are the processes below which those of the guest are. */
export function watchGpuUse(
  system: string,
  uuids: readonly string[],
  roots: () => readonly number[],
): { stop(): void } {
  let before = new Map<number, number>();
  let at = performance.now();
  let written = '';

  async function observe(): Promise<void> {
    const now = gpuProcesses(roots());
    const elapsed = (performance.now() - at) / 1000;
    at = performance.now();
    const use = gpuUse(uuids, before, now, elapsed);
    before = new Map(now.map(({ pid, seconds }) => [pid, seconds]));
    if (use.join() === written) return;
    await writeGpuUse(system, use);
    written = use.join();
  }

  let stopped = false;
  async function watch(): Promise<void> {
    // A disk that is full must not end the hypervisor.
    await observe().catch(() => undefined);
    if (!stopped) timer = setTimeout(() => void watch(), EVERY_MS);
  }
  let timer = setTimeout(() => void watch(), EVERY_MS);
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
