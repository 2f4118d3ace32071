import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';
import { describeImage, getImage } from './edit-image.ts';

/** Has launches use the digest from now on; who vouched for which is kept. Running machines keep theirs. */
export async function blessImage(
  tx: Tx,
  image: string,
  blessing: { digest: string; reason: string; callerId: string },
): Promise<{ before: string | null; image: components['schemas']['AdminImage'] }> {
  const { digest: before } = await getImage(tx, image, { lock: true });
  const { digest, reason, callerId } = blessing;
  await tx
    .insertInto('image_blessings')
    .values({ id: newId(), image, digest, reason, blessed_by: callerId })
    .execute();
  const row = await tx
    .updateTable('images')
    .set({ digest })
    .where('image', '=', image)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { before, image: describeImage(row) };
}
