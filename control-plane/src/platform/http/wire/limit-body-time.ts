import type { RawHandler } from './guard-requests.ts';
import { isRegistryPath } from './request-target.ts';

/** Limits of the listener itself: layers of images take long, headers never do. */
export const LISTENER_TIMEOUTS = { requestTimeout: 3_900_000, headersTimeout: 60_000 } as const;

const BODY_MS = 300_000;

/** Ends connections whose body takes too long. The registry limits its bodies itself. */
export function limitBodyTime(handler: RawHandler, bodyMs = BODY_MS): RawHandler {
  return (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const hasBody = encoding !== undefined || (length !== undefined && length !== '0');
    if (!hasBody || isRegistryPath(path)) return handler(request, response);
    const timer = setTimeout(() => {
      if (!request.complete) request.socket.destroy();
    }, bodyMs);
    timer.unref();
    response.once('close', () => clearTimeout(timer));
    return handler(request, response);
  };
}
