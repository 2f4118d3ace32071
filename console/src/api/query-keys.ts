/** Keys of cached responses. Live events invalidate them by the same keys. */
export const ME_KEY = ['me'] as const;

export const allocationKeys = {
  lists: ['allocations', 'list'] as const,
  list: (projectId: string) => ['allocations', 'list', projectId] as const,
  one: (id: string) => ['allocations', 'one', id] as const,
  timeline: (id: string) => ['allocations', 'timeline', id] as const,
  connection: (id: string) => ['allocations', 'connection', id] as const,
  ingress: (id: string) => ['allocations', 'ingress', id] as const,
  wipes: (id: string) => ['allocations', 'wipes', id] as const,
  hostCleanups: (id: string) => ['allocations', 'host-cleanups', id] as const,
};

export const catalogKeys = {
  skus: ['catalog', 'skus'] as const,
  regions: ['catalog', 'regions'] as const,
  images: ['catalog', 'images'] as const,
};

export const appKeys = {
  manifests: ['apps', 'manifests'] as const,
  manifest: (slug: string) => ['apps', 'manifest', slug] as const,
  targets: ['apps', 'targets'] as const,
  list: (projectId: string) => ['apps', 'instances', projectId] as const,
  one: (id: string) => ['apps', 'one', id] as const,
  members: (id: string) => ['apps', 'members', id] as const,
  events: (id: string) => ['apps', 'events', id] as const,
  address: (id: string) => ['apps', 'address', id] as const,
  shareLinks: (id: string) => ['apps', 'share-links', id] as const,
  usage: (id: string) => ['apps', 'usage', id] as const,
  cost: (id: string) => ['apps', 'cost', id] as const,
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
  conversions: (id: string) => ['fleet', 'conversions', id] as const,
};

export const organizationKeys = {
  members: (id: string) => ['organization', id, 'members'] as const,
  handover: (memberId: string) => ['organization', 'handover', memberId] as const,
  invitations: (id: string) => ['organization', id, 'invitations'] as const,
  teams: (id: string) => ['organization', id, 'teams'] as const,
  teamMembers: (teamId: string) => ['organization', 'team-members', teamId] as const,
  groups: (id: string) => ['organization', id, 'groups'] as const,
  bindings: (id: string) => ['organization', id, 'bindings'] as const,
  audit: (id: string) => ['organization', id, 'audit'] as const,
  spend: (id: string) => ['organization', id, 'spend'] as const,
  usage: (id: string) => ['organization', id, 'usage'] as const,
  ledger: (id: string) => ['organization', id, 'ledger'] as const,
  payments: (id: string) => ['organization', id, 'payments'] as const,
  costs: (id: string) => ['organization', id, 'costs'] as const,
  appUsage: (id: string) => ['organization', id, 'app-usage'] as const,
  idle: (id: string) => ['organization', id, 'idle'] as const,
  statements: (id: string) => ['organization', id, 'statements'] as const,
  budgets: (id: string) => ['organization', id, 'budgets'] as const,
  projects: (id: string, teamId?: string) =>
    ['organization', id, 'projects', ...(teamId === undefined ? [] : [teamId])] as const,
  providers: (id: string) => ['organization', id, 'providers'] as const,
  providerDomains: (providerId: string) => ['organization', 'provider-domains', providerId] as const,
};

export const projectKeys = {
  serviceAccounts: (id: string) => ['project', id, 'service-accounts'] as const,
  webhooks: (id: string) => ['project', id, 'webhooks'] as const,
  secrets: (id: string) => ['project', id, 'secrets'] as const,
  reservations: (id: string) => ['project', id, 'reservations'] as const,
  incidents: (id: string) => ['project', id, 'incidents'] as const,
  deliveries: (webhookId: string) => ['project', 'deliveries', webhookId] as const,
};

/** Keys of the person's own data, in any project. */
export const userKeys = {
  apiKeys: ['own', 'api-keys'] as const,
  sshKeys: ['own', 'ssh-keys'] as const,
  signIns: ['own', 'sign-ins'] as const,
  authConfiguration: ['own', 'auth-configuration'] as const,
  invitation: (token: string) => ['own', 'invitation', token] as const,
  notifications: ['own', 'notifications'] as const,
  notificationPreferences: ['own', 'notification-preferences'] as const,
};

export const operatorKeys = {
  incidents: ['operator', 'incidents'] as const,
  parkedEvents: ['operator', 'parked-events'] as const,
  cleanup: ['operator', 'cleanup'] as const,
  tasks: ['operator', 'tasks'] as const,
  policies: ['operator', 'policies'] as const,
  audit: ['operator', 'audit'] as const,
  auditChain: ['operator', 'audit-chain'] as const,
  enrolments: ['operator', 'enrolments'] as const,
  maasMachines: ['operator', 'maas-machines'] as const,
  onboardings: ['operator', 'onboardings'] as const,
  authorities: ['operator', 'authorities'] as const,
  labHosts: ['operator', 'lab-hosts'] as const,
  products: ['operator', 'products'] as const,
  allocations: ['operator', 'allocations'] as const,
  allocation: (id: string) => ['operator', 'allocations', 'one', id] as const,
  reservations: ['operator', 'reservations'] as const,
  tenants: ['operator', 'tenants'] as const,
  people: (email?: string) => ['operator', 'people', ...(email === undefined ? [] : [email])] as const,
  quotas: (organizationId: string) => ['operator', 'quotas', organizationId] as const,
  entitlements: (organizationId: string) => ['operator', 'entitlements', organizationId] as const,
  prices: ['operator', 'prices'] as const,
  appUsagePrices: ['operator', 'app-usage-prices'] as const,
  images: ['operator', 'images'] as const,
  revenue: ['operator', 'revenue'] as const,
  utilisation: ['operator', 'utilisation'] as const,
};
