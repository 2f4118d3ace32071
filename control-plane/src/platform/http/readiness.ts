import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Handlers } from './operation.ts';

export interface ReadinessPart {
  name: string;
  /** Resolves when the part can serve; the error says why it cannot. */
  check(): Promise<void>;
}

/** The parts a process depends on; each says for itself whether it is ready. */
export class Readiness {
  readonly #parts: ReadinessPart[] = [];

  add(part: ReadinessPart): void {
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
      this.#parts.map(async ({ name, check }) => {
        try {
          await check();
          return { name, ready: true };
        } catch (error) {
          return { name, ready: false, detail: error instanceof Error ? error.message : 'unknown' };
        }
      }),
    );
    return { ready: parts.every((part) => part.ready), parts };
  }
}

type SystemOperations = Pick<operations, 'getHealth' | 'getReadiness' | 'getContract'>;

export function systemRoutes(readiness: Readiness, document: object): Handlers<SystemOperations, unknown> {
  return {
    async getHealth() {
      return { status: 200, body: { status: 'ok' } };
    },
    async getReadiness() {
      const body = await readiness.report();
      return { status: body.ready ? 200 : 503, body };
    },
    async getContract() {
      return { status: 200, body: document as Record<string, unknown> };
    },
  };
}
