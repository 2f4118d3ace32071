import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppRefusal } from '../../web/app-refusal.ts';

export interface RouteRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** Decoded parts of the path that the pattern captures. */
  captured: string[];
  query: URLSearchParams;
}

export interface Route {
  method: string;
  pattern: RegExp;
  answer(asked: RouteRequest): Promise<void> | void;
}

/** The first route whose pattern and method fit. */
export async function answerRoute(
  routes: readonly Route[],
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: URLSearchParams,
): Promise<void> {
  const fitting = routes.filter(({ pattern }) => pattern.test(path));
  const route = fitting.find(({ method }) => method === request.method);
  if (!route)
    throw fitting.length > 0
      ? new AppRefusal(405, 'method_not_allowed', 'This address does not take this method.')
      : new AppRefusal(404, 'not_found', 'There is no such address.');
  const captured = (route.pattern.exec(path) ?? []).slice(1).map((part) => decode(part ?? ''));
  await route.answer({ request, response, captured, query });
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new AppRefusal(400, 'bad_path', 'The path is not encoded as a URL.');
  }
}
