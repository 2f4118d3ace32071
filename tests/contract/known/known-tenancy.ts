import { newId } from '@gpuaas/control-plane/platform/ids';
import type { TestApi } from '../../harness/api.ts';
import { expectSuccess, withBearer, type Schemas, type TestCaller } from '../../harness/tenancy.ts';
import type { KnownValues } from '../known-resources.ts';

const PUBLIC_KEY = publicKey(1);

/** A valid key without a private half. */
function publicKey(byte: number): string {
  const type = Buffer.from('ssh-ed25519');
  const length = (size: number): Buffer => Buffer.from([0, 0, 0, size]);
  const blob = Buffer.concat([length(type.length), type, length(32), Buffer.alloc(32, byte)]);
  return `ssh-ed25519 ${blob.toString('base64')}`;
}

/** One of each resource of the tenant, and a separate one for each operation that ends it. */
export async function seedTenancy(
  api: TestApi,
): Promise<{ values: KnownValues; own: Record<string, KnownValues> }> {
  const { organizationId, projectId, apiKey } = api.people['admin']!;
  const seed = new Seeds(api, withBearer(api, apiKey), organizationId!, projectId!);
  const member = await seed.member();
  const account = await seed.serviceAccount();
  const team = await seed.team();
  const values: KnownValues = {
    organization_id: [organizationId],
    member_id: [member.id],
    user_id: [member.userId],
    owner_user_id: [member.userId],
    holder: [{ type: 'user', id: member.userId }],
    permission_group: ['regular_user'],
    clone_of: ['regular_user'],
    team_id: [team],
    role: ['member'],
    is_default: [true],
    transfer_to: [team],
    permission_group_id: [await seed.group()],
    permission_binding_id: [await seed.binding(member.userId, 'auditor')],
    service_account_id: [account.id],
    token_id: [account.tokenId],
    invitation_id: [(await seed.invitation()).id],
    api_key_id: [await seed.apiKey()],
    ssh_key_id: [await seed.sshKey(2)],
    ssh_key_ids: [[]],
    public_key: [PUBLIC_KEY],
    expires_at: [new Date(Date.now() + 86_400_000).toISOString()],
    scopes: [['allocation.read']],
    permissions: [['allocation.read']],
  };
  const [removed, disabled, inTeam] = [await seed.member(), await seed.member(), await seed.member()];
  const teamOfOne = await seed.team();
  await seed.admin.ask('PUT', `/api/v1/teams/${teamOfOne}/members/${inTeam.userId}`);
  await seed.admin.ask('PUT', `/api/v1/teams/${team}/members/${member.userId}`);
  const [deletedAccount, disabledAccount, rotated] = [
    await seed.serviceAccount(),
    await seed.serviceAccount(),
    await seed.serviceAccount(),
  ];
  const nowhere = { organization_id: [newId()] };
  const own: Record<string, KnownValues> = {
    // It would take the tenant from the callers.
    leaveOrganization: nowhere,
    removeMember: { member_id: [removed.id] },
    disableMember: { member_id: [disabled.id] },
    revokeInvitation: { invitation_id: [(await seed.invitation()).id] },
    acceptInvitation: { token: [(await seed.invitation(api.people['operator']!.email)).token] },
    previewInvitation: { token: [(await seed.invitation(api.people['other']!.email)).token] },
    deleteTeam: { team_id: [await seed.team()] },
    removeTeamMember: { team_id: [teamOfOne], user_id: [inTeam.userId] },
    deletePermissionGroup: { permission_group_id: [await seed.group()] },
    deletePermissionBinding: {
      permission_binding_id: [await seed.binding(member.userId, 'billing_admin')],
    },
    deleteServiceAccount: { service_account_id: [deletedAccount.id] },
    disableServiceAccount: { service_account_id: [disabledAccount.id] },
    revokeServiceAccountToken: { service_account_id: [rotated.id], token_id: [rotated.tokenId] },
    revokeApiKey: { api_key_id: [await seed.apiKey()] },
    deleteSshKey: { ssh_key_id: [await seed.sshKey(3)] },
  };
  return { values, own };
}

class Seeds {
  readonly #api: TestApi;
  readonly admin: TestCaller;
  readonly #organization: string;
  readonly #project: string;
  #count = 0;

  constructor(api: TestApi, admin: TestCaller, organizationId: string, projectId: string) {
    this.#api = api;
    this.admin = admin;
    this.#organization = organizationId;
    this.#project = projectId;
  }

  #name(): string {
    this.#count += 1;
    return `known-${this.#count}`;
  }

  async member(): Promise<{ id: string; userId: string }> {
    const [id, userId, name] = [newId(), newId(), this.#name()];
    const { db } = this.#api.services;
    await db
      .insertInto('users')
      .values({ id: userId, issuer: 'test', subject: userId, email: `${name}@acme.test`, name })
      .execute();
    await db
      .insertInto('organization_members')
      .values({ id, organization_id: this.#organization, user_id: userId })
      .execute();
    return { id, userId };
  }

  async #post<T>(url: string, body: object): Promise<T> {
    return expectSuccess(await this.admin.ask<T>('POST', url, body));
  }

  async team(): Promise<string> {
    const body = { organization_id: this.#organization, name: this.#name() };
    return (await this.#post<Schemas['Team']>('/api/v1/teams', body)).id;
  }

  async group(): Promise<string> {
    const body = { organization_id: this.#organization, name: this.#name(), clone_of: 'regular_user' };
    return (await this.#post<Schemas['PermissionGroup']>('/api/v1/permission-groups', body)).id;
  }

  async binding(userId: string, permissionGroup: string): Promise<string> {
    const body = {
      organization_id: this.#organization,
      permission_group: permissionGroup,
      holder: { type: 'user', id: userId },
    };
    return (await this.#post<Schemas['PermissionBinding']>('/api/v1/permission-bindings', body)).id;
  }

  async invitation(email = `${this.#name()}@example.test`): Promise<{ id: string; token: string }> {
    const body = { organization_id: this.#organization, email, permission_group: 'auditor' };
    const made = await this.#post<Schemas['InvitationWithToken']>('/api/v1/invitations', body);
    return { id: made.invitation.id, token: made.token! };
  }

  async serviceAccount(): Promise<{ id: string; tokenId: string }> {
    const body = { project_id: this.#project, name: this.#name() };
    const made = await this.#post<Schemas['ServiceAccountWithToken']>('/api/v1/service-accounts', body);
    return { id: made.service_account.id, tokenId: made.service_account.tokens[0]!.id };
  }

  async apiKey(): Promise<string> {
    const body = { organization_id: this.#organization, name: this.#name() };
    return (await this.#post<Schemas['ApiKeyWithSecret']>('/api/v1/api-keys', body)).api_key.id;
  }

  async sshKey(byte: number): Promise<string> {
    const body = { name: this.#name(), public_key: publicKey(byte), project_id: this.#project };
    return (await this.#post<Schemas['SshKey']>('/api/v1/ssh-keys', body)).id;
  }
}
