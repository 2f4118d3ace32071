import type { Compatibility } from './judge-compatibility.ts';

/** Profiles of apps and the capacity they run on. A network between machines exists between whole hosts alone. */
export const appProfiles = {
  'Launchable OCI / Jupyter / vLLM single-node': anywhere('Workload stays inside one alloc'),
  'Slurm single-node': anywhere('Controller + worker share alloc'),
  'Slurm multi-allocation (controller + remote workers)': anywhere(
    'Members are reached through the platform',
  ),
  'Slurm multi-node (cross-network cluster)': hostsOnly("Slice networking doesn't cross allocs yet"),
  'RKE2 self-managed single-allocation': anywhere('Control plane stays in one alloc'),
  'Multi-node Kubernetes cluster': hostsOnly('Same network gap'),
} as const satisfies Record<string, AppProfile>;

interface AppProfile {
  compatibility: Compatibility;
  why: string;
}

function anywhere(why: string): AppProfile {
  return profile(['gpu_slice', 'baremetal'], why);
}

function hostsOnly(why: string): AppProfile {
  return profile(['baremetal'], why);
}

function profile(shapes: Compatibility['requires_capacity_shape'], why: string): AppProfile {
  const compatibility = {
    requires_capacity_shape: shapes,
    min_gpu_count: 1,
    requires_exclusive_node: false,
    needs_root: false,
  };
  return { compatibility, why };
}
