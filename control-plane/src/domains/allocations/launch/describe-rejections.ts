import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Rejection } from '../../placement/explain-refusal.ts';

type PlacementReason = components['schemas']['PlacementReason'];

/** Counts of rejected nodes by reason. Tenants never see which nodes. */
export function describeRejections(rejections: readonly Rejection[]): PlacementReason[] {
  return rejections.map(({ filter, reason, nodes, nodesOtherwiseFitting }) => ({
    filter,
    reason,
    nodes,
    nodes_otherwise_fitting: nodesOtherwiseFitting,
  }));
}

export function formatExpectedTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
