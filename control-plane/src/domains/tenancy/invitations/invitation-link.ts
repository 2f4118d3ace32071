const PARAMETER = 'invitation';

/** Signs in and accepts in one go: the token travels in the path to return to. */
export function acceptUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/auth/login?return_to=${encodeURIComponent(`/?${PARAMETER}=${token}`)}`;
}

/** The token in a path to return to, and the path without it. */
export function takeInvitation(returnTo: string): { token: string | null; returnTo: string } {
  const url = new URL(returnTo, 'http://localhost');
  const token = url.searchParams.get(PARAMETER);
  if (token === null) return { token, returnTo };
  url.searchParams.delete(PARAMETER);
  return { token, returnTo: `${url.pathname}${url.search}${url.hash}` };
}
