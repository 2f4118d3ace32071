/** By the error code of the host, or of the platform if it gave up waiting. */
export const failureMessages: Readonly<Record<string, string>> = {
  task_expired: 'The host did not finish in time.',
  workflow_lost: 'The launch was interrupted.',
  image_unavailable: 'The image could not be downloaded.',
  image_digest_mismatch: 'The downloaded image does not match the requested digest.',
  image_not_ready: 'The machine failed the readiness checks of its image.',
  guest_not_ready: 'The machine started but did not respond.',
  login_not_ready: 'The new user could not log in on the host.',
  network_not_ready: 'The machine did not get a private address.',
  gpu_lost: 'A GPU on the host failed.',
};

/** Why a launch failed, without internals of the host. The task has the details. */
export function failureMessageFor(code: string): string {
  return failureMessages[code] ?? 'The host could not create the machine.';
}
