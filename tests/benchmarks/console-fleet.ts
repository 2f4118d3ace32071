import type { components } from '@gpuaas/contracts/generated/openapi.ts';

type Node = components['schemas']['Node'];

const PAGE = 100;
const RACK = 16;

/** Hosts as the API lists them, in racks of sixteen. */
export function fleetOf(count: number): Node[] {
  return Array.from({ length: count }, (_, index) => {
    const sold = index % 9;
    return {
      id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      hostname: `host-${String(index).padStart(4, '0')}`,
      region: index % 2 === 0 ? 'uae-north-1' : 'eu-central-1',
      pool: 'default',
      rack: `rack-${String(Math.floor(index / RACK)).padStart(2, '0')}`,
      node_family: 'h200',
      mode: 'slice',
      profile_tags: [],
      posture: 'fully_available',
      posture_reason: 'Every slot is for sale.',
      slot_counts: {
        disabled: 0,
        available: 8 - sold,
        reserved: 0,
        in_use: sold,
        cleaning: 0,
        cleanup_blocked: 0,
      },
      draining: false,
      drain_reason: null,
      cordons: [],
      states: { desired: 'in_service', observed: 'healthy', execution: 'idle', projected: null },
      connection: 'connected',
      agent_version: '1.0.0',
      boot_id: null,
      enrolled_at: '2026-01-01T00:00:00Z',
      last_heartbeat_at: '2026-01-01T00:00:00Z',
    } as unknown as Node;
  });
}

/** The API's response to an operator; null for requests that the map does not need. */
export function operatorAnswer(url: URL, fleet: Node[]): object | null {
  if (url.pathname === '/api/v1/me') {
    return {
      user: { id: '00000000-0000-7000-8000-000000000000', email: 'operator@gpuaas.test', name: 'Operator' },
      service_account: null,
      csrf_token: 'token',
      platform_permissions: ['fleet.read'],
      next_page: null,
      organizations: [],
    };
  }
  if (url.pathname !== '/api/v1/admin/nodes') return null;
  const from = Number(url.searchParams.get('page') ?? 0);
  const next = from + PAGE;
  return { items: fleet.slice(from, next), next_page: next < fleet.length ? String(next) : null };
}
