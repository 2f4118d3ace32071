import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { openDatabase } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { expect, it } from 'vitest';
import { openOlderDatabase } from '../../harness/older-database.ts';

const BLESSED = 'H200-ubuntu-24.04-cuda-13-gpuaas-slice';
const user = newId();

it('a new installation offers no image that nobody built, and keeps one that an operator approved', async () => {
  const older = await openOlderDatabase(
    '0153_node_task_retention',
    `insert into users (id, issuer, subject, email, name) values ('${user}', 'i', 's', 'e', 'n');
     insert into image_blessings (id, image, digest, reason, blessed_by)
       select gen_random_uuid(), image, digest, 'Built by us.', '${user}' from images where image = '${BLESSED}'`,
  );
  try {
    await migrate(older.url);
    const database = openDatabase(older.url, { max: 1 });
    try {
      const images = await database.db
        .selectFrom('images')
        .select(['image', 'digest'])
        .orderBy('image')
        .execute();
      expect(images).toEqual([
        { image: BLESSED, digest: expect.stringMatching(/^sha256:/) },
        { image: 'H200-ubuntu-24.04-gpuaas-slice', digest: null },
      ]);
    } finally {
      await database.close();
    }
  } finally {
    await older.end();
  }
});
