import { openDatabase } from '@gpuaas/control-plane/platform/db/database';
import { openBlobs } from '../blob-store.ts';

/** Stores its text, or collects, and dies as if by kill -9 at the step it is given. */
const [url, folder, tenantId, text, diesAt] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const blobs = openBlobs(openDatabase(url).db, folder, {
  onStep: (step) => {
    if (step === diesAt) process.kill(process.pid, 'SIGKILL');
  },
});
if (diesAt === 'removed') await blobs.collect();
else await blobs.put(Buffer.from(text), { tenantId, maxBytes: 1000 });
process.exit(0);
