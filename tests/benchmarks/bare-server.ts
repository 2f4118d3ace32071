import type { Services } from '@gpuaas/control-plane/platform/services';
import { newId } from '@gpuaas/control-plane/platform/ids';
import Fastify from 'fastify';
import type { Statement } from './record-statements.ts';

export interface BareRoutes {
  [path: string]: { method: 'GET' | 'PATCH'; statements: Statement[]; oneTransaction: boolean };
}

/** Fastify and SQL, nothing else: no contract, no validation, no rights. */
export async function startBareServer(
  { database: { pool } }: Services,
  routes: BareRoutes,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = Fastify();
  server.setReplySerializer((rows) =>
    JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
  );
  for (const [url, { method, statements, oneTransaction }] of Object.entries(routes)) {
    server.route({
      method,
      url,
      handler: async (request) => {
        const key = request.headers['x-idempotency-key'];
        const fresh = (values: unknown[]): unknown[] =>
          values.map((value) => (value === RECORDED_KEY ? key : value));
        let rows: unknown[] = [];
        if (!oneTransaction) {
          for (const statement of statements) rows = (await pool.query({ ...statement })).rows;
          return rows[0];
        }
        const [credential, ...rest] = statements;
        await pool.query({ ...credential! });
        const client = await pool.connect();
        try {
          for (const statement of rest) {
            const result = await client.query({ ...statement, values: fresh(withNewId(statement)) });
            if (result.rows?.length > 0) rows = result.rows;
          }
        } finally {
          client.release();
        }
        return rows[0] ?? {};
      },
    });
  }
  return { url: await server.listen({ host: '127.0.0.1', port: 0 }), close: () => server.close() };
}

export const RECORDED_KEY = 'bench-recorded-key';

/** The audit row's id, which is the first value of its statement, must be new each time. */
function withNewId({ text, values }: Statement): unknown[] {
  return text.startsWith('insert into "audit_logs"') ? [newId(), ...values.slice(1)] : values;
}
