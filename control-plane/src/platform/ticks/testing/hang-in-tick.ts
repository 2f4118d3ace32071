/** Runs a tick that never ends, to be killed while it holds the lock. */
import { openDatabase } from '../../db/database.ts';
import { runDuePeriods } from '../run-due-periods.ts';

const database = openDatabase(process.env['DATABASE_URL'] ?? '');
await runDuePeriods(
  {
    name: 'hang',
    everySeconds: 10,
    catchUp: 'each',
    run: () => {
      process.stdout.write('running\n');
      return new Promise<void>((resolve) => setTimeout(resolve, 600_000));
    },
  },
  {
    db: database.db,
    services: {},
    now: new Date('2026-11-15T10:00:01Z'),
    runner: 'doomed',
    stopping: () => false,
  },
);
