import type { Tick } from '../ticks/tick.ts';
import type { Blobs } from './blobs.ts';

/** Frees the room of content that nothing refers to. */
export const collectBlobs: Tick<{ blobs: Blobs }> = {
  name: 'blobs.collect',
  everySeconds: 600,
  catchUp: 'skip',
  async run({ blobs }) {
    await blobs.collect();
  },
};
