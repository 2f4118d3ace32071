import type { AppRefusal } from '../../web/app-refusal.ts';

/** The error body of OpenAI's API. */
export function describeError({ status, code, message, param }: AppRefusal): object {
  return { error: { message, type: typeOf(status), param, code } };
}

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
