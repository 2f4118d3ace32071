import { sleep } from '../../../backoff.ts';
import { errorMessage } from '../../../logger.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { VmPlan } from '../../../slices/plan-vm.ts';
import { describeLease } from '../../describe-lease.ts';
import type { NetworkLease, ReadinessResult, HostOperation } from '../../host.ts';
import type { SliceNetwork } from '../network/slice-network.ts';
import { checkReadiness } from './check-readiness.ts';
import { logIn, GuestTimeoutError, UnknownKeyError, type GuestShell, type Login } from './first-login.ts';
import { FIRST_LOGIN } from './guest-keys.ts';

const POLL_MS = 250;
/** A healthy guest completes a handshake in less than a second. */
const FIRST_LOGIN_MS = 15_000;

/** Waits until the boot slot's MAC has the address that was approved for it. */
export async function awaitLease(
  network: SliceNetwork,
  plan: VmPlan,
  deadlineMs: number,
  step: HostOperation,
): Promise<NetworkLease> {
  const { management_mac: mac, private_ip: expected_ip } = plan.boot_slot;
  const end = Date.now() + deadlineMs;
  for (;;) {
    const lease = describeLease(mac, expected_ip, await network.leaseOf(mac));
    if (lease.lease_state === 'bound' || Date.now() > end) return lease;
    await sleep(POLL_MS, step.signal);
    step.signal.throwIfAborted();
  }
}

/**
 * Findings of the current start of the machine, saved before the agent's key is removed, in case the agent is
 * killed.
 */
export interface ReadinessFindings {
  known: ReadinessResult[] | null;
  keep(results: ReadinessResult[]): Promise<void>;
}

/** Waits for a working login, runs the image's checks, and removes the agent's own key. */
export async function verifyReadiness(
  login: Login,
  plan: VmPlan,
  { known, keep }: ReadinessFindings,
  deadlineMs: number,
  step: HostOperation,
): Promise<ReadinessResult[]> {
  const shell = await awaitLogin(login, deadlineMs, step, known !== null);
  if (shell === 'key taken out') return known ?? [];
  try {
    const results = known ?? (await checkReadiness(shell, plan));
    if (!known) await keep(results);
    await forgetKey(shell);
    return results;
  } finally {
    shell.close();
  }
}

async function awaitLogin(
  login: Login,
  deadlineMs: number,
  step: HostOperation,
  wasIn: boolean,
): Promise<GuestShell | 'key taken out'> {
  const end = Date.now() + deadlineMs;
  let loginMs = FIRST_LOGIN_MS;
  for (;;) {
    try {
      return await logIn(login, { loginMs, end });
    } catch (error) {
      // The guest accepted us before, so the key can only be missing because it was removed.
      if (wasIn && error instanceof UnknownKeyError) return 'key taken out';
      // A guest short of CPU would fail every attempt of the same length.
      if (error instanceof GuestTimeoutError) loginMs = Math.min(loginMs * 2, deadlineMs);
      if (Date.now() > end) {
        throw new TaskError('guest_not_ready', `login to the guest fails: ${errorMessage(error)}`);
      }
    }
    await sleep(POLL_MS, step.signal);
    step.signal.throwIfAborted();
  }
}

async function forgetKey(shell: GuestShell): Promise<void> {
  const file = '.ssh/authorized_keys';
  const { output } = await shell.exec(`sed -i /${FIRST_LOGIN}/d ${file}; grep -c ${FIRST_LOGIN} ${file}`);
  if (output !== '0')
    throw new TaskError('guest_not_ready', `the agent's own key stays in the guest: ${output}`);
}
