import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VmPlan } from '../../../slices/plan-vm.ts';
import { writeGpuUse } from './gpu-use.ts';
import { hasToolkit, nvcc, nvidiaSmi } from './nvidia-smi.ts';
import { confineProgram } from './confine-program.ts';
import { CONFINE_FILE, GUEST_UID } from './sandbox.ts';
import type { GUEST_ETC } from './bubblewrap-arguments.ts';

/** Writes the guest's own `etc/`, `bin/` and `gpu/`, and the program that filters its system calls. */
export async function writeSystemFiles(
  folder: string,
  plan: VmPlan,
  { driver = true }: { driver?: boolean } = {},
): Promise<void> {
  const etc = join(folder, 'etc');
  const bin = join(folder, 'bin');
  // The tenant's user reads them through the sandbox, so they are open where the rest of the agent is not.
  for (const path of [folder, etc, bin, join(folder, 'gpu')]) {
    await mkdir(path, { recursive: true });
    await chmod(path, 0o755);
  }
  for (const [name, content] of Object.entries(etcFiles(plan)))
    await writeOpen(join(etc, name), content, 0o644);
  const confine = confineProgram();
  if (confine) await writeOpen(join(folder, CONFINE_FILE), confine, 0o755);
  await writeGpuUse(
    folder,
    plan.slots.map(() => 0),
  );
  // Where the Node binary is mounted.
  await writeOpen(join(bin, 'node'), '', 0o755);
  if (driver) await writeOpen(join(bin, 'nvidia-smi'), nvidiaSmi(plan), 0o755);
  if (hasToolkit(plan)) await writeOpen(join(bin, 'nvcc'), nvcc(), 0o755);
}

async function writeOpen(path: string, content: string | Buffer, mode: number): Promise<void> {
  await writeFile(path, content);
  await chmod(path, mode);
}

function etcFiles(plan: VmPlan): Record<(typeof GUEST_ETC)[number], string> {
  const { username, hostname } = plan;
  return {
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\n${username}:x:${GUEST_UID}:${GUEST_UID}::/home/${username}:/bin/bash\n`,
    group: `root:x:0:\n${username}:x:${GUEST_UID}:\n`,
    hostname: `${hostname}\n`,
    hosts: `127.0.0.1 localhost\n127.0.1.1 ${hostname}\n`,
    profile: 'umask 022\nif [ -n "$BASH" ] && [ -r /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi\n',
    'bash.bashrc':
      "case $- in *i*) ;; *) return ;; esac\nPS1='\\u@\\h:\\w\\$ '\nalias ls='ls --color=auto'\n",
    motd: motd(plan),
  };
}

export function motd(plan: VmPlan): string {
  const gpus = `${plan.slots.length} x NVIDIA H200 SXM 141GB`;
  return [
    '',
    `  ${plan.hostname}: ${gpus}, ${plan.vcpu} vCPU, ${plan.memory_gib} GiB, image ${plan.image.name}`,
    '',
    '  This is a SIMULATED machine. The shell is real and contained; the GPUs are not there,',
    '  it has no network, and only your home folder is kept until the slice is released.',
    '',
    '',
  ].join('\n');
}
