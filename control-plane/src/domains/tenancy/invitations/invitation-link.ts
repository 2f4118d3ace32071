const PAGE = '/invitation';

/** Console page that asks for confirmation. Opening it changes nothing. */
export function acceptUrl(publicUrl: string, token: string): string {
  return `${publicUrl}${pagePath(token)}`;
}

/**
 * The token in a return path. Links of earlier releases carried it to the front page; they lead to this page
 * too.
 */
export function readInvitationLink(returnTo: string): { token: string | null; returnTo: string } {
  const url = new URL(returnTo, 'http://localhost');
  const former = url.pathname === '/' ? url.searchParams.get('invitation') : null;
  if (former !== null) return { token: former, returnTo: pagePath(former) };
  return { token: url.pathname === PAGE ? url.searchParams.get('token') : null, returnTo };
}

function pagePath(token: string): string {
  return `${PAGE}?token=${encodeURIComponent(token)}`;
}
