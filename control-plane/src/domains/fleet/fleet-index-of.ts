import type { Policies } from '../../platform/policy/policies.ts';
import { FleetIndex } from './fleet-index.ts';

const indexes = new WeakMap<Policies, FleetIndex>();

/** The process's index of the fleet, made when first asked for. A process has one policy client per database. */
export function fleetIndexOf({ policies }: { policies: Policies }): FleetIndex {
  const known = indexes.get(policies) ?? new FleetIndex(policies);
  indexes.set(policies, known);
  return known;
}
