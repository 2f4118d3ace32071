import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { newId } from '../../platform/ids.ts';
import { describeImage, getImage } from './images.ts';
import { requireTrustedSigner, type SignedStatement } from './require-signer.ts';

/** Has launches use the digest from now on; its approver is recorded. Running machines keep theirs. */
export async function blessImage(
  policies: Policies,
  tx: Tx,
  image: string,
  blessing: { digest: string; reason: string; callerId: string; signed_statement?: SignedStatement },
): Promise<{
  before: string | null;
  image: components['schemas']['AdminImage'];
  signedBy: string | null;
}> {
  const known = await getImage(tx, image, { lock: true });
  const { digest, reason, callerId, signed_statement: signed } = blessing;
  const signedBy = requireTrustedSigner(policies, known, digest, signed);
  await tx
    .insertInto('image_blessings')
    .values({
      id: newId(),
      image,
      digest,
      reason,
      blessed_by: callerId,
      signed_by: signedBy,
      statement: signed ? JSON.stringify(signed) : null,
    })
    .execute();
  const row = await tx
    .updateTable('images')
    .set({ digest })
    .where('image', '=', image)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { before: known.digest, image: describeImage(row), signedBy };
}
