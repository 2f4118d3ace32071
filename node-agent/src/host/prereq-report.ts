import type { PrereqCheck, PrereqReport } from './host.ts';

export type PrereqId = PrereqCheck['id'];
export type Finding = Omit<PrereqCheck, 'id'>;

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

export function prereqReport(findings: Record<PrereqId, Finding>, checkedAt: Date): PrereqReport {
  const checks = ORDER.map((id) => ({ id, ...findings[id] }));
  return {
    ready: checks.every(({ state }) => state === 'ok' || state === 'warning'),
    reboot_required: findings.reboot_required.state === 'missing',
    checked_at: checkedAt.toISOString(),
    checks,
  };
}

export function ok(evidence: string): Finding {
  return { state: 'ok', evidence: cut(evidence), remedy: null };
}

export function missing(evidence: string, remedy: string): Finding {
  return { state: 'missing', evidence: cut(evidence), remedy: cut(remedy) };
}

/** Worth telling, but no reason to keep the host from slices. */
export function warning(evidence: string, remedy: string): Finding {
  return { state: 'warning', evidence: cut(evidence), remedy: cut(remedy) };
}

/** Could not be read; counts as missing because nobody has seen that it is there. */
export function unknown(evidence: string, remedy: string): Finding {
  return { state: 'unknown', evidence: cut(evidence), remedy: cut(remedy) };
}

function cut(text: string): string {
  return text.length > 500 ? `${text.slice(0, 499)}…` : text;
}
