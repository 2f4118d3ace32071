import type { IngressRule } from '@gpuaas/contracts/tasks';
import type { Finding } from './host.ts';

/** Differences between the desired and the actual ingress of a machine. */
export function compareIngress(
  allocationId: string,
  wanted: readonly IngressRule[],
  present: readonly IngressRule[],
): Finding[] {
  const should = new Set(wanted.map(inWords));
  const does = new Set(present.map(inWords));
  const finding =
    (state: Finding['state']) =>
    (evidence: string): Finding => {
      return { subject: 'ingress', state, allocation_id: allocationId, evidence };
    };
  return [
    ...[...should].filter((rule) => !does.has(rule)).map(finding('missing')),
    ...[...does].filter((rule) => !should.has(rule)).map(finding('orphan')),
  ];
}

function inWords({ protocol, public_address, public_port, machine_port }: IngressRule): string {
  return `${protocol} ${public_address}:${public_port} to port ${machine_port}`;
}
