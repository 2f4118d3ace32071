import type { components } from './contract.ts';

/** An RFC 9457 problem. */
export type Problem = components['schemas']['Problem'];

/** An answer of the API that is not a success. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.name = 'ProblemError';
    this.problem = problem;
  }

  get code(): string {
    return this.problem.code;
  }
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer, or a thrown `ProblemError`. */
export async function unwrap<T>(pending: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await pending;
  if (response.ok) return data as T;
  throw new ProblemError(isProblem(error) ? error : unexpected(response));
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'status' in value;
}

function unexpected(response: Response): Problem {
  return {
    type: 'about:blank',
    title: `The server answered ${response.status} ${response.statusText}`,
    status: response.status,
    code: 'unexpected_response',
    correlation_id: response.headers.get('x-correlation-id') ?? '00000000-0000-0000-0000-000000000000',
  };
}
