import { rotateAuthority } from '@gpuaas/control-plane/domains/fleet/identity/rotate-authority';
import { openIncident } from '@gpuaas/control-plane/domains/incidents/open-incident';
import { createSignIn } from '@gpuaas/control-plane/platform/auth/sign-ins';
import { encodePage } from '@gpuaas/control-plane/platform/http/page';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { x509 } from '@gpuaas/control-plane/platform/keys/x509';
import { TEST_LAB_HOST, type TestApi } from '../harness/api.ts';
import { addNode, candidate } from '../harness/fleet/fleet.ts';
import { ask } from './known/ask.ts';
import {
  seedActiveAllocation,
  seedEndingAllocation,
  seedIngress,
  seedRecordedAllocation,
  seedReservation,
  seedWipeCertificate,
} from './known/known-allocations.ts';
import { seedParkedEvent } from './known/known-events.ts';
import {
  seedBlocked,
  seedDiscoveredHost,
  seedHostForBaremetal,
  seedMaintenance,
  seedSlots,
  seedTask,
} from './known/known-hosts.ts';
import { seedPayments } from './known/known-payments.ts';
import { seedOnboarding } from './known/known-onboardings.ts';
import { seedRepository } from './known/known-registry.ts';
import { seedApps } from './known/known-apps.ts';
import { seedSecret } from './known/known-secrets.ts';
import { seedTenancy } from './known/known-tenancy.ts';

export type KnownValues = Record<string, unknown[]>;

const SKU = 'h200-sxm-slice';
const HOSTNAME = 'fuzz-enrolled';

/** Its name in MAAS, for tests that have one. */
export const KNOWN_MACHINE = 'abc123';

/** Operations that no request alone can bring to succeed here. */
export const CANNOT_SUCCEED: Record<string, string> = {
  deleteOrganization: 'would take the tenant from the callers; the tenancy tests delete one',
  deleteProject: 'the callers’ project owns something; the tenancy tests delete one',
  leaveOrganization: 'would end the key it is called with; the tenancy tests leave one',
  finishLogin: 'needs a sign-in that was begun with an identity provider',
  finishTenantLogin: 'needs a sign-in that was begun with an identity provider',
  finishPublicLogin: 'needs a sign-in that was begun with Google or GitHub',
  verifyIdentityProviderDomain: 'needs a record in DNS; the tests of tenant sign-in have one',
  confirmAuditExport: 'needs a month that is over and sealed; the tests of the audit API have one',
  createReservation:
    'asks for more hosts than there are, and so keeps none from the others; the tests of reservations make some',
  createReservationFor: 'asks for more hosts than there are, as above',
  receiveStripeEvent: 'needs a signature of Stripe; the tests of payments have a server that signs',
  getConsoleLog: 'needs a host with a tunnel; the tests of terminals have one',
  listMaasMachines: 'needs a MAAS; the tests of onboarding have one',
  importMaasMachine: 'needs a MAAS, as above',
  attachIngress: 'needs a policy that names an owner and a pool; the tests of ingress set one',
  startAppArtifactSmokeRun:
    'needs a project of the platform with a machine; the tests of smoke runs have one',
  createAllocation: 'needs a host that reports itself; the launch tests have one',
  createAppInstance: 'needs a machine that holds slots; the tests of apps have one',
};

/** One of each resource, and the values of parameters and fields that name them. */
export async function seedKnownResources(
  api: TestApi,
): Promise<{ nodeId: string; valuesFor(operation: string): KnownValues }> {
  const { projectId } = api.people['member']!;
  const nodeId = await seedNode(api);
  const webhook = await seedWebhook(api);
  const slotHost = await seedSlots(api);
  const tenancy = await seedTenancy(api);
  const payments = await seedPayments(api);
  const wiped = await seedWipeCertificate(api, slotHost.sold['slot_id']![0] as string);
  const recorded = await seedRecordedAllocation(api);
  const ingress = await seedIngress(api, nodeId);
  const apps = await seedApps(api, recorded.allocationId);
  const values: KnownValues = {
    ...newProducts,
    ...(await seedIdentityProvider(api, 'known')),
    issuer: ['https://sign-in.example.com/fuzz'],
    newcomers_project_id: [projectId],
    sign_in_id: [await seedSignIn(api)],
    ...apps.values,
    ...tenancy.values,
    ...payments.values,
    project_id: [projectId],
    amount: [{ currency: 'USD', micros: 5_000_000 }],
    monthly: [{ currency: 'USD', micros: 5_000_000 }],
    price: [{ currency: 'USD', micros: 5_000_000 }],
    occurred_at: [new Date().toISOString()],
    scope_type: ['tenant'],
    scope_id: [api.people['admin']!.organizationId],
    budget_id: [await seedBudget(api, 'project')],
    at_cap: ['notify'],
    policy_name: ['allocations.stop_timeout_seconds'],
    after: ['1:0'],
    corrects_entry_id: [await seedLedgerEntry(api)],
    node_id: [nodeId],
    allocation_id: [recorded.allocationId],
    recording_id: [recorded.recordingId],
    secret_name: [await seedSecret(api, 'KNOWN_SECRET')],
    repository_id: [await seedRepository(api, 'known', 'v1')],
    tag_name: ['v1'],
    ingress_id: ingress['ingress_id']!,
    ...webhook,
    url: ['https://hooks.example.com/fuzz'],
    incident_id: [await seedIncident(api, nodeId)],
    parked_event_id: [await seedParkedEvent(api)],
    notification_id: [await seedNotification(api)],
    discovery_task_id: [await seedTask(api, nodeId, 'succeeded')],
    slot_indexes: [[0]],
    window_id: [await seedMaintenance(api, nodeId)],
    starts_at: [new Date(Date.now() + 3_600_000).toISOString()],
    ends_at: [new Date(Date.now() + 7_200_000).toISOString()],
    enrolment_id: [await seedOpenEnrolment(api)],
    onboarding_id: [await seedOnboarding(api)],
    system_id: [KNOWN_MACHINE],
    slot_id: slotHost.sold['slot_id']!,
    serial: slotHost.shared['serial']!,
    task_id: [await seedTask(api, nodeId, 'claimed')],
    epoch: [1],
    hostname: [HOSTNAME],
    lab_hostname: [TEST_LAB_HOST],
    token: [await seedEnrolment(api)],
    csr_pem: [await certificateRequest()],
    sku: [SKU],
    image: ['H200-ubuntu-24.04-gpuaas-slice'],
    region: ['uae-north-1'],
    'If-Match': ['*', await etagOfSku(api)],
    'X-Idempotency-Key': ['known-to-many'],
    wait_seconds: [0],
    // Well-formed cursors that none of our lists created.
    page: [['x'], ['x', 'y'], ['-1'], ['1e9'], ['2026-01-01T00:00:00Z', 'x'], ['a\0b'], []].map(encodePage),
  };
  const quota = {
    holder: [{ type: 'project', id: projectId }],
    measure: ['allocations'],
    unit: [],
    limit: [500],
  };
  // Operations that end a resource get a separate one, so that the others still find theirs.
  const own: Record<string, KnownValues> = {
    ...apps.own,
    ...tenancy.own,
    ...payments.own,
    setPolicy: { policy_name: ['webhooks.max_per_project'], value: [15] },
    resetPolicy: { policy_name: ['webhooks.max_per_project'] },
    setOrganizationPolicy: { value: [60] },
    detachIngress: ingress,
    deleteWebhook: await seedWebhook(api),
    deleteProjectSecret: { secret_name: [await seedSecret(api, 'ENDING_SECRET')] },
    deleteRegistryRepository: { repository_id: [await seedRepository(api, 'ending', 'v1')] },
    deleteRegistryTag: { repository_id: [await seedRepository(api, 'untagged', 'v1')] },
    deleteBudget: { budget_id: [await seedBudget(api, 'user')] },
    deleteIdentityProvider: await seedIdentityProvider(api, 'ending'),
    deleteIdentityProviderDomain: await seedIdentityProvider(api, 'shrinking'),
    recordNodeBurnIn: { result: ['failed'] },
    approveResourceSlots: await seedDiscoveredHost(api),
    offerWholeNode: await seedHostForBaremetal(api),
    disableResourceSlot: slotHost.sold,
    repairResourceSlot: slotHost.disabled,
    setDiskOwnership: slotHost.shared,
    startDiskConversion: slotHost.shared,
    finishDiskConversion: slotHost.converting,
    retryCleanup: await seedBlocked(api),
    retryCleanups: { slot_ids: [(await seedBlocked(api)).slot_id] },
    recordExternalWipe: { ...(await seedBlocked(api)), device_serial: [candidate(0).nvme_serial] },
    retireSlot: await seedBlocked(api),
    retireNodeAuthority: { authority_id: [await seedReplacedAuthority(api)], cut_off: [true] },
    convertNode: { node_id: [await addNode(api)], mode: ['baremetal'] },
    cancelNodeOnboarding: { onboarding_id: [await seedOnboarding(api)] },
    revokeNodeIdentity: { node_id: [await addNode(api)] },
    ...(await seedCatalog(api)),
    setOrganizationQuota: quota,
    setTenantQuota: quota,
    releaseAllocation: { allocation_id: [await seedActiveAllocation(api)] },
    extendAllocation: { allocation_id: [await seedEndingAllocation(api)], additional_seconds: [60] },
    createReservation: { node_count: [100] },
    createReservationFor: { node_count: [100] },
    cancelReservation: { reservation_id: [await seedReservation(api)] },
    cancelReservationOf: { reservation_id: [await seedReservation(api)] },
    getWipeCertificate: wiped,
    printWipeCertificate: wiped,
    retryAllocationRelease: { allocation_id: [await seedEnded(api, 'release_failed')] },
    forceReleaseAllocation: { allocation_id: [await seedActiveAllocation(api)] },
    retryReleaseForTenant: { allocation_id: [await seedEnded(api, 'release_failed')] },
    recordHostCleanup: { allocation_id: [await seedEnded(api, 'failed')] },
  };
  return { nodeId, valuesFor: (operation) => ({ ...values, ...own[operation] }) };
}

/** Fields of products and prices that no generated value would meet. */
const newProducts: KnownValues = {
  per_gpu_hour: [{ currency: 'USD', micros: 2_500_000 }],
  effective_from: [new Date(Date.now() + 86_400_000).toISOString()],
  allowed_gpu_counts: [[1, 2]],
  gpus_total: [8],
  capacity_shape: ['gpu_slice'],
  digest: [`sha256:${'5e'.repeat(32)}`],
  readiness_checks: [['nvidia_driver']],
};

/** Names that are still free, and a price that can be withdrawn. */
async function seedCatalog(api: TestApi): Promise<Record<string, KnownValues>> {
  const price = await ask(api, 'operator', 'POST', '/api/v1/admin/prices', {
    sku: SKU,
    region: 'us-east-1',
    per_gpu_hour: { currency: 'USD', micros: 3_000_000 },
    effective_from: new Date(Date.now() + 172_800_000).toISOString(),
  });
  return {
    createSku: { sku: ['fuzz-slice'] },
    createRegion: { region: ['fuzz-north-1'] },
    createImage: { image: ['fuzz-image'] },
    createPrice: { organization_id: [], effective_until: [] },
    withdrawPrice: { price_id: [price.json<{ id: string }>().id] },
    listPrices: { organization_id: [] },
  };
}

async function seedNode({ services }: TestApi): Promise<string> {
  const id = newId();
  await services.db
    .insertInto('nodes')
    .values({
      id,
      hostname: 'fuzz',
      region: 'uae-north-1',
      pool: 'default',
      rack: 'r',
      node_family: 'hgx-h200',
      mode: 'slice',
    })
    .execute();
  await services.db.updateTable('sku_catalog').set({ enabled: true }).execute();
  return id;
}

/** An allocation that has ended and still holds a whole host. */
async function seedEnded(api: TestApi, state: 'failed' | 'release_failed'): Promise<string> {
  const id = await seedActiveAllocation(api);
  const nodeId = await addNode(api);
  await api.services.db
    .updateTable('allocations')
    .set({ state, node_id: nodeId, capacity_shape: 'baremetal', desired_state: 'released' })
    .where('id', '=', id)
    .execute();
  await api.services.db
    .insertInto('allocation_resource_claims')
    .values({
      id: newId(),
      allocation_id: id,
      node_id: nodeId,
      claim_kind: 'node_exclusive',
      slot_id: null,
      snapshot: '{}',
    })
    .execute();
  return id;
}

/** A browser sign-in that one of those who ask can end, once; to the others it is missing. */
async function seedSignIn({ services, people }: TestApi): Promise<string> {
  return await services.db.transaction().execute(async (tx) => {
    const owner = tx.selectFrom('users').select('id').where('email', '=', people['member']!.email);
    const { id } = await owner.executeTakeFirstOrThrow();
    return (await createSignIn(tx, services, { userId: id, userAgent: 'fuzz', ip: '127.0.0.1' })).id;
  });
}

async function seedIdentityProvider(api: TestApi, name: string): Promise<KnownValues> {
  const { id } = (
    await ask(api, 'admin', 'POST', '/api/v1/identity-providers', {
      organization_id: api.people['admin']!.organizationId,
      name,
      issuer: `https://${name}.example.com`,
      client_id: 'gpuaas',
      client_secret: 'secret-of-a-client',
    })
  ).json<{ id: string }>();
  const domain = await ask(api, 'admin', 'POST', `/api/v1/identity-providers/${id}/domains`, {
    domain: `${name}.example.com`,
  });
  return { identity_provider_id: [id], domain_id: [domain.json<{ id: string }>().id] };
}

async function seedWebhook(api: TestApi): Promise<KnownValues> {
  const body = { project_id: api.people['admin']!.projectId, url: 'https://hooks.example.com/known' };
  const created = await ask(api, 'admin', 'POST', '/api/v1/webhooks', body);
  const { id } = created.json<{ webhook: { id: string } }>().webhook;
  const delivery = await ask(api, 'admin', 'POST', `/api/v1/webhooks/${id}/test`);
  return { webhook_id: [id], delivery_id: [delivery.json<{ id: string }>().id] };
}

async function seedOpenEnrolment(api: TestApi): Promise<string> {
  const body = { hostname: 'fuzz-open', region: 'uae-north-1' };
  return (await ask(api, 'operator', 'POST', '/api/v1/admin/node-enrolments', body)).json<{ id: string }>()
    .id;
}

/** A CA that another one has replaced, and that no token of the other operations names. */
async function seedReplacedAuthority({ services }: TestApi): Promise<string> {
  const rotate = () => services.db.transaction().execute((tx) => rotateAuthority(tx, services.sealer));
  const replaced = await rotate();
  await rotate();
  return replaced;
}

async function seedLedgerEntry(api: TestApi): Promise<string> {
  const url = `/api/v1/admin/tenants/${api.people['admin']!.organizationId}/ledger-adjustments`;
  const body = {
    kind: 'credit',
    amount: { currency: 'USD', micros: 9_000_000 },
    reason: 'Seeded for the fuzz.',
  };
  const posted = await ask(api, 'operator', 'POST', url, body);
  return posted.json<{ entries: { id: string }[] }>().entries[0]!.id;
}

async function seedBudget(api: TestApi, scope: 'project' | 'user'): Promise<string> {
  const { organizationId, projectId, email } = api.people['admin']!;
  const user = await api.services.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  const put = await api.server.inject({
    method: 'PUT',
    url: '/api/v1/billing/budgets',
    headers: { authorization: `Bearer ${api.people['admin']!.apiKey}` },
    payload: {
      organization_id: organizationId,
      scope_type: scope,
      scope_id: scope === 'user' ? user.id : projectId,
      monthly: { currency: 'USD', micros: 1_000_000_000 },
      thresholds: [80],
      at_cap: 'notify',
    },
  });
  return put.json<{ id: string }>().id;
}

async function seedNotification({ services: { db }, people }: TestApi): Promise<string> {
  const { id } = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', people['admin']!.email)
    .executeTakeFirstOrThrow();
  const row = await db
    .insertInto('notifications')
    .values({
      id: newId(),
      user_id: id,
      event_id: newId(),
      event_type: 'incident.opened',
      kind: 'incident',
      severity: 'info',
      title: 'Seeded for the fuzz',
      body: 'Nothing happened.',
      link: '/',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

async function seedIncident({ services }: TestApi, nodeId: string): Promise<string> {
  return await services.db.transaction().execute((tx) =>
    openIncident(tx, services.clock.now(), {
      type: 'slot_cleanup_blocked',
      targetType: 'node',
      targetId: nodeId,
      summary: 'Seeded for the fuzz.',
    }),
  );
}

async function seedEnrolment(api: TestApi): Promise<string> {
  const body = { hostname: HOSTNAME, region: 'uae-north-1' };
  const created = await ask(api, 'operator', 'POST', '/api/v1/admin/node-enrolments', body);
  return created.json<{ token: string }>().token;
}

async function certificateRequest(): Promise<string> {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };
  const name = `CN=${HOSTNAME}`;
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm });
  return csr.toString('pem');
}

async function etagOfSku(api: TestApi): Promise<string> {
  const read = await ask(api, 'operator', 'GET', `/api/v1/admin/skus/${SKU}`);
  return String(read.headers['etag']);
}
