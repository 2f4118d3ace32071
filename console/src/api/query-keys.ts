/** Names of cached answers. Live events refresh them by the same names. */
export const ME_KEY = ['me'] as const;

export const allocationKeys = {
  lists: ['allocations', 'list'] as const,
  list: (projectId: string) => ['allocations', 'list', projectId] as const,
  one: (id: string) => ['allocations', 'one', id] as const,
  timeline: (id: string) => ['allocations', 'timeline', id] as const,
  connection: (id: string) => ['allocations', 'connection', id] as const,
  wipes: (id: string) => ['allocations', 'wipes', id] as const,
};

export const catalogKeys = {
  skus: ['catalog', 'skus'] as const,
  regions: ['catalog', 'regions'] as const,
  images: ['catalog', 'images'] as const,
};

export const fleetKeys = {
  nodes: ['fleet', 'nodes'] as const,
  node: (id: string) => ['fleet', 'node', id] as const,
  slots: (id: string) => ['fleet', 'slots', id] as const,
  discovery: (id: string) => ['fleet', 'discovery', id] as const,
  tasks: (id: string) => ['fleet', 'tasks', id] as const,
  readiness: (id: string) => ['fleet', 'readiness', id] as const,
  drift: (id: string) => ['fleet', 'drift', id] as const,
  disks: (id: string) => ['fleet', 'disks', id] as const,
  burnIns: (id: string) => ['fleet', 'burn-ins', id] as const,
  labFaults: (hostname: string) => ['fleet', 'lab-faults', hostname] as const,
  maintenance: (id: string) => ['fleet', 'maintenance', id] as const,
};
