import type { Database } from '../../db/database.ts';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { sleep, step, type WorkflowDefinition } from '../definition.ts';

export interface SixStepServices {
  database: Database;
}

interface Input {
  sleepSeconds: number;
  stepSeconds?: number;
}

/** The order of the workflow; `settle` is a sleep, `charge` acts on another system. */
export const sixSteps = ['reserve', 'charge', 'prepare', 'settle', 'boot', 'verify', 'announce'] as const;

/** Every place where the process can die: before the effect, inside the step after it, after the checkpoint. */
export const crashPoints = sixSteps.flatMap((name) =>
  ['before', 'after', 'checkpointed'].map((place) => `${name}:${place}`),
);

export const sixStepWorkflow: WorkflowDefinition<SixStepServices, Input> = {
  name: 'test.six_steps',
  deadlineSeconds: 60,
  steps: sixSteps,
  async run(services, { sleepSeconds, stepSeconds = 0 }) {
    for (const name of sixSteps) {
      if (name === 'settle') await sleep(name, sleepSeconds);
      else await step(name, () => act(services, name, stepSeconds));
    }
  },
};

export const sixStepTables = `
  create table step_executions (
    id serial primary key, workflow_id text, step text, pid integer, begun_at timestamptz default clock_timestamp()
  );
  create table external_effects (idempotency_key text primary key, calls integer not null default 1)`;

/**
 * Every execution leaves a trace; the effect itself is keyed, as in another system, and committed separately
 * from the trace.
 */
async function act({ database }: SixStepServices, name: string, seconds: number): Promise<string> {
  const workflowId = DBOS.workflowID;
  const { pool } = database;
  const trace = 'insert into step_executions (workflow_id, step, pid) values ($1, $2, $3)';
  await pool.query(trace, [workflowId, name, process.pid]);
  if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  await pool.query(
    `insert into external_effects (idempotency_key) values ($1)
     on conflict (idempotency_key) do update set calls = external_effects.calls + 1`,
    [`${workflowId}:${name}`],
  );
  return name;
}
