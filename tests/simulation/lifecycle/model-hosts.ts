import { X509Certificate } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  parseTaskParams,
  type CandidateSlot,
  type SlotBundle,
  type TaskKind,
  type TaskParams,
} from '@gpuaas/contracts/tasks';
import { claimTask } from '@gpuaas/control-plane/domains/tasks/claim-task';
import { completeTask, type ReportedOutcome } from '@gpuaas/control-plane/domains/tasks/complete-task';
import { recordHeartbeat } from '@gpuaas/control-plane/domains/fleet/health/record-heartbeat';
import { candidate, CHECKS, discovered } from '../../harness/fleet/fleet.ts';
import { identityFor } from '../../harness/fleet/node-port.ts';
import { inScope, nodeScope } from '@gpuaas/control-plane/platform/db/scope';
import { Problem } from '@gpuaas/control-plane/platform/http/problem';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';

type Mood = 'fails' | 'silent' | 'dirty';

/**
 * Hosts without hardware: they run the platform's tasks through its real use-cases and record their state.
 */
export class ModelHosts {
  readonly #hosts = new Map<string, ModelHost>();
  readonly #moods: Moods = new Map();
  readonly #services: PlatformServices;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(services: PlatformServices) {
    this.#services = services;
  }

  add(nodeId: string, candidates: readonly CandidateSlot[] = slotsOf(nodeId)): void {
    this.#hosts.set(nodeId, new ModelHost(nodeId, this.#moods, candidates));
  }

  start(): void {
    this.#running = Promise.all([this.#serve(), this.#beat()]).then(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /**
   * Behaviour of the next tasks for an allocation, or for a host itself: `times` of them, or indefinitely;
   * one after the other.
   */
  mood(subject: string, kind: TaskKind, mood: Mood, times = Infinity): void {
    const key = `${subject}/${kind}`;
    this.#moods.set(key, [...(this.#moods.get(key) ?? []), { mood, left: times }]);
  }

  calm(): void {
    this.#moods.clear();
  }

  host(nodeId: string): ModelHost {
    return this.#hosts.get(nodeId)!;
  }

  /** Leftovers anywhere: machines, leases, network, data. */
  leftovers(): string[] {
    return [...this.#hosts].flatMap(([id, host]) => host.leftovers().map((left) => `${id}: ${left}`));
  }

  /** Machines that run, by host. */
  machines(): string[] {
    return [...this.#hosts].flatMap(([id, host]) => [...host.vms.keys()].map((vm) => `${id} runs ${vm}`));
  }

  /** Disks with tenant data. */
  dirtyDisks(): string[] {
    return [...this.#hosts].flatMap(([id, host]) =>
      [...host.dirty].map(([serial, owner]) => `${id}/${serial} holds ${owner}`),
    );
  }

  /** Requests that a host must never get: to give one tenant a slot with another's data. */
  violations(): string[] {
    return [...this.#hosts.values()].flatMap((host) => host.violations);
  }

  async beatOnce(): Promise<void> {
    for (const [nodeId, host] of this.#hosts) {
      if (host.cut || (await this.#isRevoked(nodeId).catch(() => true))) continue;
      const beat = host.heartbeat();
      await this.#renewIfAsked(nodeId, host).catch(() => undefined);
      await inScope(this.#services.db, nodeScope(nodeId), (tx) =>
        recordHeartbeat(this.#services, tx, nodeId, beat, host.certificate),
      ).catch(() => undefined);
    }
  }

  async #beat(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.beatOnce();
      await pause(2_000, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Requests of such a host are refused. */
  async #isRevoked(nodeId: string): Promise<boolean> {
    const { identity_revoked_at } = await this.#services.db
      .selectFrom('nodes')
      .select('identity_revoked_at')
      .where('id', '=', nodeId)
      .executeTakeFirstOrThrow();
    return identity_revoked_at !== null;
  }

  /** A host that must rotate its key requests a certificate, and continues with it. */
  async #renewIfAsked(nodeId: string, host: ModelHost): Promise<void> {
    const { identity_rotation_since: since } = await this.#services.db
      .selectFrom('nodes')
      .select('identity_rotation_since')
      .where('id', '=', nodeId)
      .executeTakeFirstOrThrow();
    if (!since || since.getTime() === host.rotatedFor) return;
    const { cert } = await identityFor(this.#services, nodeId);
    host.certificate = new X509Certificate(cert).serialNumber.toLowerCase();
    host.rotatedFor = since.getTime();
  }

  async #serve(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      let worked = false;
      for (const [nodeId, host] of this.#hosts) {
        if (host.cut) continue;
        // The database may be away for a moment; a host tries again.
        worked = (await this.#serveOne(nodeId, host).catch(() => false)) || worked;
      }
      if (!worked) await pause(50);
    }
  }

  async #serveOne(nodeId: string, host: ModelHost): Promise<boolean> {
    await this.#deliver(nodeId, host);
    const signed = await claimTask(this.#services, nodeId, 0, this.#stop.signal);
    if (!signed) return false;
    const { task } = signed;
    const outcome = host.perform(task.kind as TaskKind, task.params);
    if (!outcome) return true;
    host.undelivered = { taskId: task.task_id, reported: { epoch: task.epoch, ...outcome } };
    await this.#deliver(nodeId, host);
    return true;
  }

  /** An outcome is kept until the platform has answered. */
  async #deliver(nodeId: string, host: ModelHost): Promise<void> {
    if (!host.undelivered) return;
    const { taskId, reported } = host.undelivered;
    await inScope(this.#services.db, nodeScope(nodeId), (tx) =>
      completeTask(this.#services, tx, nodeId, taskId, reported),
    ).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
    host.undelivered = null;
  }
}

const READY = {
  ready: true,
  reboot_required: false,
  checked_at: new Date().toISOString(),
  checks: CHECKS.map((id) => ({ id, state: 'ok', evidence: 'model', remedy: null })),
};
/** The slots of a host that nobody described: its disks are in no other host. */
function slotsOf(nodeId: string): CandidateSlot[] {
  const serial = nodeId.slice(-10).toUpperCase();
  return Array.from({ length: 8 }, (_, slot) => candidate(slot, { nvme_serial: `${serial}${slot}` }));
}

/** By subject and kind of task; the hosts of one world share them, another world has its own. */
type Moods = Map<string, { mood: Mood; left: number }[]>;

class ModelHost {
  readonly #nodeId: string;
  readonly #moods: Moods;
  /** Cut off from the platform: it keeps running and receives nothing. */
  cut = false;
  bootId = 'boot-1';
  certificate: string | null = null;
  /** When the new key was asked for that it has by now. */
  rotatedFor = 0;
  readonly vms = new Map<string, string>();
  /** Machines that their tenants have shut down. */
  readonly shutDown = new Set<string>();
  readonly leases = new Map<string, string>();
  readonly networks = new Set<string>();
  /** Whose data is on a disk or in the host's files. */
  readonly dirty = new Map<string, string>();
  readonly violations: string[] = [];
  undelivered: { taskId: string; reported: ReportedOutcome } | null = null;
  hostLease: string | null = null;

  /** What its discoveries find. */
  readonly candidates: readonly CandidateSlot[];

  constructor(nodeId: string, moods: Moods, candidates: readonly CandidateSlot[]) {
    this.#nodeId = nodeId;
    this.candidates = candidates;
    this.#moods = moods;
  }

  heartbeat() {
    return {
      boot_id: this.bootId,
      agent_version: '1.0.0',
      agent_time: new Date().toISOString(),
      leases: [...this.leases].map(([slot_id, allocation_id]) => ({ slot_id, allocation_id })),
      host_lease: this.hostLease,
      vms: [...this.vms].map(([allocation_id, started_at]) => ({
        allocation_id,
        state: this.shutDown.has(allocation_id) ? ('stopped' as const) : ('running' as const),
        started_at,
      })),
    };
  }

  /** The power is cut and comes back: machines start again. */
  reboot(): void {
    this.bootId = `boot-${Number(this.bootId.slice(5)) + 1}`;
    for (const id of this.vms.keys()) this.vms.set(id, new Date().toISOString());
  }

  leftovers(): string[] {
    return [
      ...[...this.vms.keys()].map((id) => `machine ${id}`),
      ...[...this.leases.keys()].map((id) => `lease ${id}`),
      ...[...this.networks].map((mac) => `network ${mac}`),
      ...[...this.dirty.keys()].map((serial) => `data on ${serial}`),
      ...(this.hostLease ? [`host lease ${this.hostLease}`] : []),
    ];
  }

  /** Null is a task that this host never answers. */
  perform(kind: TaskKind, given: unknown): Omit<ReportedOutcome, 'epoch'> | null {
    const allocationId = (given as { allocation_id?: string }).allocation_id ?? '';
    const mood = moodOf(this.#moods, `${allocationId || this.#nodeId}/${kind}`);
    if (mood === 'silent') return null;
    if (kind === 'slice.vm_provision') return this.#provision(parseTaskParams(kind, given), mood);
    if (kind === 'slice.vm_release') return this.#release(parseTaskParams(kind, given), mood);
    if (kind === 'allocation.provision_user') return this.#addUser(parseTaskParams(kind, given), mood);
    if (kind === 'allocation.deprovision_user') return this.#removeUser(allocationId, mood);
    if (kind === 'slice.prereq_check') return success(READY);
    if (kind === 'slice.topology_discover') return success({ ...discovered(this.candidates) });
    if (kind === 'node.set_mode') return this.#setMode(parseTaskParams(kind, given).mode, mood);
    return failure('kind_unknown');
  }

  mode = 'slice';

  #setMode(mode: string, mood: Mood | null): Omit<ReportedOutcome, 'epoch'> {
    if (mood === 'fails' || this.leases.size > 0 || this.hostLease) return failure('mode_refused');
    this.mode = mode;
    return success({ mode, evidence: 'bound' });
  }

  #provision(
    { allocation_id, slots }: { allocation_id: string; slots: SlotBundle[] },
    mood: Mood | null,
  ): Omit<ReportedOutcome, 'epoch'> {
    const foreign = slots.some(
      ({ slot_id }) => this.leases.has(slot_id) && this.leases.get(slot_id) !== allocation_id,
    );
    if (foreign || this.hostLease) {
      this.violations.push(`${allocation_id} was sold what ${this.hostLease ?? 'another slice'} holds`);
      return failure('slot_leased');
    }
    for (const slot of slots) {
      const owner = this.dirty.get(slot.nvme_serial) ?? allocation_id;
      if (owner !== allocation_id) this.violations.push(`${allocation_id} was sold the data of ${owner}`);
      this.leases.set(slot.slot_id, allocation_id);
      this.dirty.set(slot.nvme_serial, allocation_id);
    }
    this.networks.add(slots[0]!.management_mac);
    if (mood === 'fails') return failure('network_not_bound');
    const started_at = this.vms.get(allocation_id) ?? new Date().toISOString();
    this.vms.set(allocation_id, started_at);
    const { management_mac: mac, private_ip: ip } = slots[0]!;
    return success({
      host_key_fingerprint: `SHA256:${'A'.repeat(43)}`,
      network: { mac, expected_ip: ip, actual_ip: ip, lease_state: 'bound' },
      boot_id: this.bootId,
      started_at,
      readiness: [{ check: 'ssh', passed: true, evidence: 'SSH-2.0-model' }],
    });
  }

  #release(
    { allocation_id, slots, wipe_scope = 'own_data' }: TaskParams['slice.vm_release'],
    mood: Mood | null,
  ): Omit<ReportedOutcome, 'epoch'> {
    const at = new Date().toISOString();
    const stop = this.vms.delete(allocation_id) ? 'graceful' : 'absent';
    const verified = mood !== 'dirty';
    for (const slot of slots) this.networks.delete(slot.management_mac);
    const stopped = { vm_absent: true, stop, network_clean: true, wipes: [] };
    if (wipe_scope === 'nothing') return success(stopped);
    const isForeign = ({ nvme_serial }: SlotBundle): boolean =>
      (this.dirty.get(nvme_serial) ?? allocation_id) !== allocation_id;
    if (wipe_scope === 'own_data' && slots.some(isForeign))
      return { ...failure('disk_not_ours'), output: stopped };
    for (const slot of slots) {
      if (!verified) continue;
      this.dirty.delete(slot.nvme_serial);
      if (this.leases.get(slot.slot_id) === allocation_id) this.leases.delete(slot.slot_id);
    }
    const output = {
      vm_absent: true,
      stop,
      network_clean: true,
      wipes: slots.map((slot) => ({
        slot_id: slot.slot_id,
        device_serial: slot.nvme_serial,
        method: 'blkdiscard',
        verified,
        verification: verified ? 'read back empty' : 'data was left',
        tools: [{ name: 'model', version: '1' }],
        started_at: at,
        finished_at: at,
      })),
    };
    return verified ? success(output) : { ...failure('wipe_not_verified'), output };
  }

  #addUser(
    { allocation_id: allocationId, root = false }: TaskParams['allocation.provision_user'],
    mood: Mood | null,
  ): Omit<ReportedOutcome, 'epoch'> {
    if (this.leases.size > 0 || (this.hostLease && this.hostLease !== allocationId)) {
      this.violations.push(`${allocationId} was sold a host that ${this.hostLease ?? 'a slice'} holds`);
      return failure('slot_leased');
    }
    this.hostLease = allocationId;
    this.dirty.set(`home of ${allocationId}`, allocationId);
    if (mood === 'fails') return failure('login_not_ready');
    const started_at = this.vms.get(allocationId) ?? new Date().toISOString();
    this.vms.set(allocationId, started_at);
    return success({
      host_key_fingerprint: `SHA256:${'B'.repeat(43)}`,
      address: '10.0.0.1',
      // A host with this behaviour grants root without a request.
      privileged: root || mood === 'dirty',
      boot_id: this.bootId,
      started_at,
    });
  }

  #removeUser(allocationId: string, mood: Mood | null): Omit<ReportedOutcome, 'epoch'> {
    const at = new Date().toISOString();
    this.vms.delete(allocationId);
    const verified = mood !== 'dirty';
    if (verified) {
      this.dirty.delete(`home of ${allocationId}`);
      if (this.hostLease === allocationId) this.hostLease = null;
    }
    const output = {
      user_absent: verified,
      leftovers: verified ? [] : ['file residue'],
      verified,
      verification: verified ? 'nothing was found' : 'a file was left',
      started_at: at,
      finished_at: at,
    };
    return verified ? success(output) : { ...failure('cleanup_not_verified'), output };
  }
}

function moodOf(moods: Moods, key: string): Mood | null {
  const entry = moods.get(key)?.find(({ left }) => left > 0);
  if (!entry) return null;
  entry.left -= 1;
  return entry.mood;
}

function success(output: Record<string, unknown>): Omit<ReportedOutcome, 'epoch'> {
  return { outcome: 'succeeded', output };
}

function failure(code: string): Omit<ReportedOutcome, 'epoch'> {
  return { outcome: 'failed', error: { code, detail: `the model host says ${code}` } };
}
