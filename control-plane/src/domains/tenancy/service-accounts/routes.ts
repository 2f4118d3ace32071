import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { requireIfMatch } from '../../../platform/http/etag.ts';
import type { AuditTarget, Handlers } from '../../../platform/http/operation.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { findProject } from '../projects/find-project.ts';
import { createServiceAccount } from './create-service-account.ts';
import { describeServiceAccount } from './describe-service-account.ts';
import {
  findServiceAccount,
  requireAccountPermissions,
  type ServiceAccountRow,
} from './find-service-account.ts';
import { listServiceAccounts } from './list-service-accounts.ts';
import { rotateToken } from './rotate-token.ts';
import { updateServiceAccount } from './update-service-account.ts';

type ServiceAccountOperations = Pick<
  operations,
  | 'listServiceAccounts'
  | 'createServiceAccount'
  | 'getServiceAccount'
  | 'updateServiceAccount'
  | 'deleteServiceAccount'
  | 'rotateServiceAccountToken'
  | 'disableServiceAccount'
  | 'enableServiceAccount'
  | 'revokeServiceAccountToken'
>;

interface AccountContext {
  caller: Caller;
  params: { service_account_id: string };
  audit(target: AuditTarget): void;
}

const target = (row: ServiceAccountRow) => ({
  targetType: 'service_account',
  targetId: row.id,
  organizationId: row.organization_id,
  detail: { name: row.name, project_id: row.project_id },
});

const name = ({ params, audit }: AccountContext): void =>
  audit({ targetType: 'service_account', targetId: params.service_account_id });

/** Finds a service account to change and names it in the audit log. */
async function change(
  tx: Tx,
  { caller, params, audit }: AccountContext,
  options: { orItself?: boolean } = {},
): Promise<ServiceAccountRow> {
  const id = params.service_account_id;
  const row = await findServiceAccount(tx, caller, 'service_account.manage', id, { lock: true, ...options });
  audit(target(row));
  return row;
}

async function setState(
  tx: Tx,
  row: ServiceAccountRow,
  state: ServiceAccountRow['state'],
): Promise<ServiceAccountRow> {
  await tx.updateTable('service_accounts').set({ state }).where('id', '=', row.id).execute();
  return { ...row, state };
}

export function serviceAccountRoutes(services: Services): Handlers<ServiceAccountOperations, Caller> {
  const { clock } = services;
  const describe = (tx: Tx, row: ServiceAccountRow) => describeServiceAccount(tx, row, clock.now());
  return {
    listServiceAccounts({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'service_account.read', query.project_id);
        return { status: 200, body: await listServiceAccounts(tx, clock.now(), query) };
      });
    },
    createServiceAccount({ caller, body, audit, mutate }) {
      audit({ targetType: 'project', targetId: body.project_id });
      return mutate(async (tx) => {
        const { row, token } = await createServiceAccount(services, tx, caller, body);
        audit(target(row));
        return {
          status: 201,
          ...withToken(await describe(tx, row), token),
          location: `/api/v1/service-accounts/${row.id}`,
        };
      });
    },
    getServiceAccount({ caller, params, read }) {
      return read(async (tx) => {
        const id = params.service_account_id;
        const row = await findServiceAccount(tx, caller, 'service_account.read', id);
        return { status: 200, body: await describe(tx, row) };
      });
    },
    updateServiceAccount(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await change(tx, context);
        requireIfMatch(context.request, await describe(tx, row));
        const changed = await updateServiceAccount(tx, context.caller, row, context.body);
        return { status: 200, body: await describe(tx, changed) };
      });
    },
    deleteServiceAccount(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await change(tx, context);
        requireIfMatch(context.request, await describe(tx, row));
        await tx.deleteFrom('service_accounts').where('id', '=', row.id).execute();
        return { status: 204, body: undefined };
      });
    },
    rotateServiceAccountToken(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await change(tx, context, { orItself: true });
        const token = await rotateToken(services, tx, context.caller, row);
        return { status: 200, ...withToken(await describe(tx, row), token) };
      });
    },
    disableServiceAccount(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await setState(tx, await change(tx, context), 'disabled');
        return { status: 200, body: await describe(tx, row) };
      });
    },
    enableServiceAccount(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await change(tx, context);
        await requireAccountPermissions(tx, context.caller, row);
        return { status: 200, body: await describe(tx, await setState(tx, row, 'active')) };
      });
    },
    revokeServiceAccountToken(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await change(tx, context);
        const revoked = await tx
          .updateTable('service_account_tokens')
          .set({ revoked_at: clock.now() })
          .where('service_account_id', '=', row.id)
          .where('id', '=', context.params.token_id)
          .where('revoked_at', 'is', null)
          .returning('id')
          .executeTakeFirst();
        if (!revoked) throw notFound();
        context.audit({ ...target(row), detail: { token_id: revoked.id } });
        return { status: 204, body: undefined };
      });
    },
  };
}

/** The caller gets the token once; the reply stored for a replay does not contain it. */
function withToken(account: components['schemas']['ServiceAccount'], token: string) {
  return {
    body: { service_account: account, token },
    replayBody: { service_account: account, token: null, secret_already_shown: true },
  };
}
