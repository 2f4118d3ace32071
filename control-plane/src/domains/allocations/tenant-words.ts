import type { NodeStage } from './record-stage-progress.ts';

/** What a tenant reads while a host works. The host's own words name devices and stay on its task, for operators. */
export const stageWords: Record<NodeStage, string> = {
  plan: 'The host checks what it is to build',
  image: 'The image is copied to the machine’s own disk',
  seed: 'First-boot settings and keys are written',
  vm: 'The machine starts',
  network: 'The machine gets its private address',
  readiness: 'Waiting until the machine answers',
  user: 'The login on the host is prepared',
  stop: 'The machine is stopped',
  network_cleanup: 'Its network is taken down',
  wipe: 'Its disks are wiped',
  verify: 'Its disks are read back',
};

/** By the code of whoever gave up: the host, or the platform that waited for it. */
export const failures: Readonly<Record<string, string>> = {
  task_expired: 'The host did not finish in time.',
  workflow_lost: 'The platform lost track of the launch.',
  image_unavailable: 'The image could not be fetched.',
  image_digest_mismatch: 'The image that was fetched is not the one that was asked for.',
  image_not_ready: 'The machine did not pass the checks of its image.',
  guest_not_ready: 'The machine started but did not answer.',
  login_not_ready: 'The host did not answer to the new login.',
  network_not_ready: 'The machine did not get its private address.',
  gpu_lost: 'A GPU of the host has failed.',
};

/** Why a launch failed, without the insides of the host. The code is the host's; its task has the details. */
export function failureWords(code: string): string {
  return failures[code] ?? 'The host could not build the machine.';
}
