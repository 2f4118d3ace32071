import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { findAllocation } from '../find-allocation.ts';
import { listCertificateKeys, rotateCertificateKey } from './certificate-keys.ts';
import { findCertificate, listChain } from './find-certificate.ts';
import { CERTIFICATE_CONTENT_SECURITY_POLICY, certificatePage } from './certificate-page.ts';

type CertificateOperations = Pick<
  operations,
  | 'getWipeCertificate'
  | 'printWipeCertificate'
  | 'listWipeCertificateKeys'
  | 'listWipeCertificateChain'
  | 'rotateWipeCertificateKey'
>;

/** Signed proof of wipes: for the tenant whose data it was, for auditors, and the keys for everybody. */
export function certificateRoutes({ sealer }: Services): Handlers<CertificateOperations, Caller> {
  return {
    getWipeCertificate({ caller, params, read }) {
      return read(async (tx) => {
        await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        return { status: 200, body: await findCertificate(tx, params.allocation_id, params.certificate_id) };
      });
    },
    printWipeCertificate({ caller, params, read, reply }) {
      return read(async (tx) => {
        await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        const signed = await findCertificate(tx, params.allocation_id, params.certificate_id);
        reply.header('content-security-policy', CERTIFICATE_CONTENT_SECURITY_POLICY);
        return { status: 200, body: certificatePage(signed), mediaType: 'text/html; charset=utf-8' };
      });
    },
    async listWipeCertificateKeys({ query, read }) {
      return { status: 200, body: await read((tx) => listCertificateKeys(tx, query)) };
    },
    async listWipeCertificateChain({ caller, query, read }) {
      authorize(caller, 'audit.read', atPlatform);
      return { status: 200, body: await read((tx) => listChain(tx, query)) };
    },
    rotateWipeCertificateKey({ caller, body, audit, mutate }) {
      audit({ targetType: 'wipe_certificate_key', targetId: 'new', detail: { reason: body.reason } });
      return mutate(async (tx) => {
        authorize(caller, 'certificate.manage', atPlatform);
        const key = await rotateCertificateKey(tx, sealer);
        audit({
          targetType: 'wipe_certificate_key',
          targetId: key.key_id,
          detail: { reason: body.reason },
        });
        return { status: 201, body: key };
      });
    },
  };
}
