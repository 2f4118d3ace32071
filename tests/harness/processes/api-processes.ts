import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  payload?: object;
}

export interface AskedProcess {
  id: string;
  request: ApiRequest;
}

export interface ApiAnswer {
  statusCode: number;
  body: Record<string, unknown> | null;
}

export interface ApiProcess {
  /** Null when the process died before it answered. */
  ask(request: ApiRequest): Promise<ApiAnswer | null>;
  /** Without a chance to tidy up. */
  kill(): Promise<void>;
}

/** One more API process over the same database, with its own memory. */
export async function startApiProcess(
  databaseUrl: string,
  dataDir: string,
  more: Record<string, string> = {},
): Promise<ApiProcess> {
  const child = fork(fileURLToPath(new URL('api-process.ts', import.meta.url)), {
    execArgv: ['--disable-warning=DeprecationWarning'],
    env: { ...process.env, DATABASE_URL: databaseUrl, GPUAAS_DATA_DIR: dataDir, ...more },
  });
  const waiting = new Map<string, (answer: ApiAnswer | null) => void>();
  let asked = 0;
  let gone = false;
  child.on('message', ({ id, statusCode, body }: { id: string; statusCode: number; body: string }) => {
    waiting.get(id)?.({ statusCode, body: body ? JSON.parse(body) : null });
    waiting.delete(id);
  });
  child.on('exit', () => {
    gone = true;
    for (const answer of waiting.values()) answer(null);
    waiting.clear();
  });
  await once(child, 'message');
  return {
    ask: (request) =>
      new Promise((resolve) => {
        if (gone) return resolve(null);
        const id = String((asked += 1));
        waiting.set(id, resolve);
        child.send({ id, request } satisfies AskedProcess);
      }),
    async kill() {
      if (gone) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}
