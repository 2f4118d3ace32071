import { sanitizeText } from '@gpuaas/contracts/sanitize';

export interface ReadinessCheck {
  name: string;
  /** Resolves if the part can serve, with a remark if there is one; the error gives the reason if it cannot. */
  check(): Promise<string | void>;
  /** False: shown with its reason, but the process is ready without it. True if omitted. */
  decides?: boolean;
}

/** A part that does not answer in time is not ready; the probe itself must answer. */
const CHECK_MS = 3000;

/** The parts that a process depends on, each with its own readiness check. */
export class Readiness {
  readonly #parts: ReadinessCheck[] = [];

  add(part: ReadinessCheck): void {
    this.#parts.push(part);
  }

  /** A part that becomes ready once, when `done` is called. */
  addMilestone(name: string, waitingFor: string): { done(): void } {
    let reached = false;
    this.add({
      name,
      check: async () => {
        if (!reached) throw new Error(waitingFor);
      },
    });
    return {
      done: () => {
        reached = true;
      },
    };
  }

  async report(): Promise<{ ready: boolean; parts: { name: string; ready: boolean; detail?: string }[] }> {
    const parts = await Promise.all(
      this.#parts.map(async (part) => {
        const { name } = part;
        try {
          const detail = await withDeadline(part.check());
          return { name, ready: true, ...(detail ? { detail } : {}) };
        } catch (error) {
          return { name, ready: false, detail: reasonOf(error) };
        }
      }),
    );
    const ready = this.#parts.every(({ decides = true }, index) => !decides || parts[index]?.ready);
    return { ready, parts };
  }
}

async function withDeadline<T>(pending: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_MS} ms`)), CHECK_MS);
  });
  try {
    return await Promise.race([pending, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Probes are public, and a failed connection may quote its settings. */
function reasonOf(error: unknown): string {
  return sanitizeText(error instanceof Error ? error.message || error.name : 'unknown').slice(0, 500);
}
