import { problems, type ProblemCode } from '@gpuaas/contracts/generated/problems.ts';

export interface ProblemDetail {
  pointer: string;
  code?: string;
  detail: string;
}

export interface ProblemOptions {
  errors?: ProblemDetail[];
  /** Further members documented with the code. */
  extensions?: Record<string, unknown>;
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** A refusal with a stable code; the only error that reaches a caller in words. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = problems[code].status;
    this.options = options;
  }

  toJson(correlationId: string): Record<string, unknown> {
    return {
      type: `/docs/problems#${this.code}`,
      title: problems[this.code].title,
      status: this.status,
      detail: this.message,
      code: this.code,
      correlation_id: correlationId,
      ...(this.options.errors ? { errors: this.options.errors.slice(0, 100) } : {}),
      ...this.options.extensions,
    };
  }
}

/** The same answer for what does not exist and for what belongs to somebody else. */
export function notFound(): Problem {
  return new Problem('not_found', 'There is no such resource, or it is not yours to see.');
}
