/** `npm run read-models:rebuild`: what screens show, built again from the event log. The platform may run. */
import { leasesOnHosts } from '../src/domains/allocations/leases-on-hosts.ts';
import { rebuildReadModels } from '../src/domains/read-models/rebuild.ts';
import { openDatabase } from '../src/platform/db/database.ts';
import { withPlatformDatabase } from './platform-database.ts';

await withPlatformDatabase(async (url) => {
  const database = openDatabase(url);
  try {
    const { events, kept, removed, hosts } = await rebuildReadModels({
      db: database.db,
      leases: leasesOnHosts,
    });
    console.log(
      `${events} events replayed, ${kept} older rows kept, ${removed} rows without an event removed, ${hosts} hosts projected again`,
    );
  } finally {
    await database.close();
  }
});
