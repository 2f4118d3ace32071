import type { PrereqCheck, PrereqReport } from './host.ts';

export type PrereqId = PrereqCheck['id'];
export type PrereqFinding = Omit<PrereqCheck, 'id'>;

/** In the order an operator would put them right: firmware, kernel, daemons, tools, stock. */
const ORDER: readonly PrereqId[] = [
  'uefi',
  'secure_boot',
  'iommu',
  'vfio',
  'sriov',
  'hugepages',
  'ovs',
  'libvirt',
  'cloud_init_tools',
  'rdma_tools',
  'image_cache',
  'reboot_required',
];

export function prereqReport(findings: Record<PrereqId, PrereqFinding>, checkedAt: Date): PrereqReport {
  const checks = ORDER.map((id) => ({ id, ...findings[id] }));
  return {
    ready: checks.every(({ state }) => state === 'ok' || state === 'warning'),
    reboot_required: findings.reboot_required.state === 'missing',
    checked_at: checkedAt.toISOString(),
    checks,
  };
}

export function ok(evidence: string): PrereqFinding {
  return { state: 'ok', evidence: cut(evidence), remedy: null };
}

export function missing(evidence: string, remedy: string): PrereqFinding {
  return { state: 'missing', evidence: cut(evidence), remedy: cut(remedy) };
}

/** Worth reporting, but no reason to reject the host. */
export function warning(evidence: string, remedy: string): PrereqFinding {
  return { state: 'warning', evidence: cut(evidence), remedy: cut(remedy) };
}

/** Unreadable; counts as missing because its presence is not proven. */
export function unknown(evidence: string, remedy: string): PrereqFinding {
  return { state: 'unknown', evidence: cut(evidence), remedy: cut(remedy) };
}

function cut(text: string): string {
  return text.length > 500 ? `${text.slice(0, 499)}…` : text;
}
