/** `npm run read-models:rebuild`: what screens show, built again from the event log. The platform may run. */
import { rebuildReadModels } from '../src/domains/read-models/rebuild.ts';
import { openDatabase } from '../src/platform/db/database.ts';
import { withPlatformDatabase } from './platform-database.ts';

await withPlatformDatabase(async (url) => {
  const database = openDatabase(url);
  try {
    const { events, kept, removed, hosts } = await rebuildReadModels(database.db);
    console.log(
      `${events} events replayed, ${kept} older rows kept, ${removed} rows removed that no event tells of, ${hosts} hosts shown anew`,
    );
  } finally {
    await database.close();
  }
});
