import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bootSandbox, NoContainmentError } from './boot-sandbox.ts';
import type { Sandbox } from './sandbox.ts';

const path = process.env['PATH'];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpuaas-boot-'));
});
afterEach(() => {
  process.env['PATH'] = path;
  rmSync(folder, { recursive: true });
});

function refusal(tools: Record<string, string>): Promise<unknown> {
  for (const [name, script] of Object.entries(tools))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  process.env['PATH'] = folder;
  const sandbox: Sandbox = {
    allocationId: 'refused',
    hostname: 'refused',
    username: 'ubuntu',
    home: folder,
    system: folder,
    node: process.execPath,
    owner: null,
    staged: false,
    cgroup: null,
  };
  return bootSandbox(sandbox).then(
    () => null,
    (error: unknown) => error,
  );
}

const there = { bwrap: 'exit 1', nsenter: 'exit 1', setpriv: 'exit 1' };

it('names the package that is missing', async () => {
  const { bwrap: _without, ...others } = there;
  const error = await refusal({ ...others, unshare: 'exit 1' });
  expect(error).toBeInstanceOf(NoContainmentError);
  expect(String(error)).toContain('bubblewrap is not installed (Debian/Ubuntu: apt install bubblewrap)');
});

it('names what is forbidden when the machine gives no user namespace', async () => {
  const error = await refusal({
    ...there,
    unshare: 'echo "unshare: unshare failed: Operation not permitted" >&2; exit 1',
  });
  expect(error).toBeInstanceOf(NoContainmentError);
  expect(String(error)).toMatch(/unshare failed: Operation not permitted .* unprivileged user namespaces/);
});

it('does not take an end without a message for a boot', async () => {
  expect(String(await refusal({ ...there, unshare: 'exit 0' }))).toContain('it ended without a message');
});
