import pg from 'pg';

export interface Statement {
  name?: string;
  text: string;
  values: unknown[];
}

type Query = (
  config: string | { name?: string; text: string; values?: unknown[] },
  values?: unknown,
) => unknown;

/** The statements that `work` sends, so that the bare handlers run the same SQL and can never drift from it. */
export async function recordStatements(work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  prototype.query = function recording(this: unknown, config, values) {
    const list = Array.isArray(values) ? (values as unknown[]) : [];
    if (typeof config === 'string') statements.push({ text: config, values: list });
    else
      statements.push({
        ...(config.name ? { name: config.name } : {}),
        text: config.text,
        values: config.values ?? list,
      });
    return query.apply(this, arguments as unknown as Parameters<Query>);
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return statements.filter(({ text }) => !isBackground(text));
}

/** The process also polls for events and workflows. */
function isBackground(text: string): boolean {
  return /outbox_events e\s|workflow_starts|pg_snapshot/.test(text);
}
