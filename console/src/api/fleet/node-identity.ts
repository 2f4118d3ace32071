import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';

export const enrolmentsQuery = pagedQuery(operatorKeys.enrolments, (page, signal) =>
  unwrap(client.GET('/api/v1/admin/node-enrolments', { params: { query: page }, signal })),
);

export interface NewEnrolment {
  /** Without it any one new host may use the token. */
  hostname?: string;
  region: string;
  rack?: string;
  pool?: string;
}

export function createEnrolment(body: NewEnrolment) {
  return unwrap(client.POST('/api/v1/admin/node-enrolments', { body }));
}

export function revokeEnrolment(id: string) {
  return unwrap(
    client.POST('/api/v1/admin/node-enrolments/{enrolment_id}/revoke', {
      params: { path: { enrolment_id: id } },
    }),
  );
}

export const authoritiesQuery = pagedQuery(operatorKeys.authorities, (page, signal) =>
  unwrap(client.GET('/api/v1/admin/node-authorities', { params: { query: page }, signal })),
);

export function rotateAuthority(reason: string) {
  return unwrap(client.POST('/api/v1/admin/node-authorities', { body: { reason } }));
}

export function retireAuthority({ id, reason }: { id: string; reason: string }) {
  return unwrap(
    client.POST('/api/v1/admin/node-authorities/{authority_id}/retire', {
      params: { path: { authority_id: id } },
      body: { reason },
    }),
  );
}
