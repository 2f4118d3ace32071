import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a request with our cookie comes from a page of the app itself, or is a person who follows a link or types the
 * address. Apps under one domain may be one site to a browser, so that SameSite does not part them; this does. A
 * browser that tells nothing proves nothing.
 */
export function provesOrigin(request: {
  method?: string | undefined;
  headers: IncomingHttpHeaders;
}): boolean {
  const { headers } = request;
  const { origin, host } = headers;
  if (origin !== undefined && origin !== 'null') return URL.parse(origin)?.host === host?.toLowerCase();
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return true;
  return site !== undefined && isTopNavigation(request);
}

/** A page that opens in a tab. Frames of other origins are none. */
export function isTopNavigation({
  method,
  headers,
}: {
  method?: string | undefined;
  headers: IncomingHttpHeaders;
}): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}
