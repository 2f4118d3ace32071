/** `npm run db:psql`: a shell on the platform's database, running or not. Arguments after `--` go to psql. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { withPlatformDatabase } from './platform-database.ts';

await withPlatformDatabase(psql);

/** The embedded package has the server only, so the client comes from the system. */
async function psql(url: string): Promise<void> {
  const address = new URL(url);
  const password = decodeURIComponent(address.password);
  // On the command line every user of the machine could read it.
  address.password = '';
  // Ctrl-C belongs to psql, which cancels the query.
  process.on('SIGINT', () => undefined);
  const child = spawn('psql', [address.href, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, ...(password ? { PGPASSWORD: password } : {}) },
  });
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } catch {
    console.error('psql is not installed. On Debian: apt-get install postgresql-client');
    process.exitCode = 1;
  }
}
