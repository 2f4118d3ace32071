/** A worker in a separate process that runs the six-step workflow, to be killed and stopped by tests. */
import { openDatabase } from '../../db/database.ts';
import { Listener } from '../../db/listener.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { startWorkflowEngine } from '../engine.ts';
import { STARTS_CHANNEL } from '../queue-names.ts';
import { sixStepWorkflow } from './six-steps.workflow.ts';

const url = process.env['DATABASE_URL'];
if (!url) throw new Error('DATABASE_URL is not set');
const timings = process.env['TEST_LEASE_TIMINGS'];
const concurrency = process.env['TEST_CONCURRENCY'];
const database = openDatabase(url);
const listener = new Listener(url, [STARTS_CHANNEL]);
await listener.start();
const engine = await startWorkflowEngine({
  database,
  listener,
  services: { database },
  definitions: [sixStepWorkflow],
  log: createLogger('test-worker'),
  ...(timings ? { timings: JSON.parse(timings) as { heartbeatMs: number; deadAfterMs: number } } : {}),
  ...(concurrency ? { concurrency: Number(concurrency) } : {}),
});
process.on('SIGTERM', () => {
  void (async () => {
    await engine.stop();
    await listener.close();
    await database.close();
    process.exit(0);
  })();
});
process.stdout.write(`${engine.executorId}\n`);
