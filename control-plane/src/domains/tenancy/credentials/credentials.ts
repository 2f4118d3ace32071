import type pg from 'pg';
import { permissionsAt, type Binding } from '../../../platform/auth/caller.ts';
import { grantedBindings, type PrincipalRow } from '../../../platform/auth/granted-bindings.ts';
import { Batcher } from '../../../platform/batcher.ts';
import { SERVICE_ACCOUNT_WITH_RIGHTS, USER_WITH_RIGHTS } from './principals-with-rights.ts';

export interface Statement<Row> {
  name: string;
  text: string;
  /** Never set; carries the type of the rows. */
  row?: Row;
}

/** Column that assigns the rows of a lookup of many secrets. */
interface FoundRow {
  found_by: unknown;
}
interface ApiKeyRow extends PrincipalRow {
  credential_id: string;
  scopes: string[] | null;
  organization_id: string | null;
  used_lately: boolean;
}
interface TokenRow extends PrincipalRow {
  credential_id: string;
  used_lately: boolean;
}
interface AppInstanceRow extends PrincipalRow {
  organization_id: string;
  project_id: string;
  platform_access: string[];
}
interface SignInRow extends PrincipalRow {
  csrf_token: string;
  used_lately: boolean;
}

export const apiKeysBy = (column: 'secret_hash' | 'id'): Statement<ApiKeyRow & FoundRow> => ({
  name: `api-keys-by-${column}`,
  text: `select k.${column} as found_by, k.id as credential_id, k.scopes, k.organization_id, ${usedLately('k')}, ${USER_WITH_RIGHTS}
    from api_keys k join users u on u.id = k.user_id
    where k.${column} = any ($1) and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
});
export const tokensBy = (column: 'secret_hash' | 'id'): Statement<TokenRow & FoundRow> => ({
  name: `service-account-tokens-by-${column}`,
  text: `select t.${column} as found_by, t.id as credential_id, ${usedLately('t')}, ${SERVICE_ACCOUNT_WITH_RIGHTS}
    from service_account_tokens t join service_accounts s on s.id = t.service_account_id
    where t.${column} = any ($1) and t.revoked_at is null and t.expires_at > now() and s.state = 'active'`,
});

/**
 * Reads credential, principal and rights in one round trip for each request: a revocation applies to the next
 * request.
 */
export const API_KEYS = apiKeysBy('secret_hash');
export const SERVICE_ACCOUNT_TOKENS = tokensBy('secret_hash');
const instanceOf = (creator: string, columns: string): string => `
  select i.organization_id, i.project_id, i.platform_access, ${columns}
  from live_app_instance($1) i join ${creator}.id = i.created_by`;
/** The creator of an instance, while it lives. */
export const APP_INSTANCE: Statement<AppInstanceRow> = {
  name: 'app-instance',
  text: `${instanceOf('users u on u', USER_WITH_RIGHTS)}
    union all ${instanceOf('service_accounts s on s', SERVICE_ACCOUNT_WITH_RIGHTS)} where s.state = 'active'`,
};
export const SIGN_IN: Statement<SignInRow> = {
  name: 'sign-in',
  text: `select s.csrf_token, ${usedLately('s')}, ${USER_WITH_RIGHTS}
    from sign_ins s join users u on u.id = s.user_id
    where s.id_hash = $1 and s.expires_at > now() and s.last_used_at > now() - make_interval(secs => $2)`,
};

/**
 * The user of a verified access token that is newer than the end of their sign-ins. A token of a tenant's
 * provider counts while that provider has the domain of the address.
 */
export const IDENTITY: Statement<PrincipalRow> = {
  name: 'identity',
  text: `select ${USER_WITH_RIGHTS} from users u where u.issuer = $1 and u.subject = $2
    and (u.home_organization_id is null) = $3 and (u.sign_ins_ended_at is null or u.sign_ins_ended_at < $4)
    and ($3 or vouches_for_address(u.home_organization_id, u.issuer, u.email))`,
};

export async function findCredential<Row extends object>(
  pool: pg.Pool,
  { name, text }: Statement<Row>,
  ...values: (Buffer | string | number | boolean | Date)[]
): Promise<Row | null> {
  const { rows } = await pool.query<Row>({ name, text, values });
  return rows[0] ?? null;
}

/** Requests that arrive during a lookup share the next one, whose statement starts after they arrived. */
const LOOKS = { batch: 'credentials', size: 64, underWay: 2 };
const looks = new WeakMap<pg.Pool, Map<string, Batcher<Buffer, unknown>>>();

export async function findBySecret<Row extends FoundRow>(
  pool: pg.Pool,
  statement: Statement<Row>,
  hash: Buffer,
): Promise<Row | null> {
  const ofPool = looks.get(pool) ?? new Map<string, Batcher<Buffer, unknown>>();
  looks.set(pool, ofPool);
  const look =
    ofPool.get(statement.name) ??
    new Batcher<Buffer, unknown>((hashes) => findMany(pool, statement, hashes), LOOKS);
  ofPool.set(statement.name, look);
  return (await look.submit(hash)) as Row | null;
}

async function findMany<Row extends FoundRow>(
  pool: pg.Pool,
  { name, text }: Statement<Row>,
  hashes: readonly Buffer[],
): Promise<(Row | null)[]> {
  const { rows } = await pool.query<Row>({ name, text, values: [hashes] });
  const found = new Map(rows.map((row) => [(row.found_by as Buffer).toString('hex'), row]));
  return hashes.map((hash) => found.get(hash.toString('hex')) ?? null);
}

/** Rights of a key: those in its tenant or on the platform, within its scopes. */
export function bindingsOfKey(row: ApiKeyRow): Binding[] {
  const own = row.bindings.filter((binding) => binding.organizationId === row.organization_id);
  return grantedBindings(own, row.scopes);
}

/** Rights of an instance: those its manifest declares, in its project, as far as its creator has them now. */
export function bindingsOfInstance(row: AppInstanceRow): Binding[] {
  const { organization_id: organizationId, project_id: projectId, platform_access } = row;
  const held = permissionsAt(grantedBindings(row.bindings, platform_access), {
    kind: 'project',
    organizationId,
    projectId,
  });
  return [{ group: 'app_instance', permissions: [...held], scope: 'project', organizationId, projectId }];
}

/** Last use is stored to the minute, so that a busy key is not written at each request. */
function usedLately(table: 'k' | 't' | 's'): string {
  return `coalesce(${table}.last_used_at > now() - interval '1 minute', false) as used_lately`;
}
