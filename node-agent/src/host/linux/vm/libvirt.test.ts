import { expect, it } from 'vitest';
import { openLibvirt } from './libvirt.ts';

const NOT_RUNNING = 'error: Requested operation is not valid: domain is not running';

/** Libvirt that refuses to press the button of a machine in this state. */
const refusing = (state: string) =>
  openLibvirt(async (_tool, args) =>
    args.includes('shutdown')
      ? { code: 1, stdout: '', stderr: NOT_RUNNING }
      : { code: 0, stdout: `${state}\n`, stderr: '' },
  );

it('a machine that ended before the power button counts as shut down', async () => {
  await expect(refusing('shut off').shutdown('vm')).resolves.toBeUndefined();
});

it('reports a running machine whose power button fails', async () => {
  await expect(refusing('running').shutdown('vm')).rejects.toMatchObject({
    code: 'libvirt_failed',
    message: expect.stringContaining(NOT_RUNNING),
  });
});
