import { problems, type ProblemCode } from '@gpuaas/contracts/generated/problems.ts';

/** Maximum errors in one answer: enough for a form, and cheap for a body with a million mistakes. */
export const MAX_ERRORS = 20;

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

/** A refusal with a stable code; the only error whose text reaches a caller. */
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
      ...(this.options.errors ? { errors: this.options.errors.slice(0, MAX_ERRORS) } : {}),
      ...this.options.extensions,
    };
  }
}

/** One answer for a missing resource and for one of another tenant. */
export function notFound(): Problem {
  return new Problem('not_found', 'The resource does not exist, or you may not see it.');
}
