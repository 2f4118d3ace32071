/**
 * Where the browser goes after a sign-in: a page of this site, as an absolute URL. A value that could lead
 * elsewhere in any browser becomes the front page.
 */
export function safeReturnUrl(publicUrl: string, returnTo: string | undefined): string {
  const front = new URL('/', publicUrl);
  if (returnTo === undefined || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(returnTo)) return front.href;
  const target = URL.parse(returnTo, front);
  return target?.origin === front.origin ? target.href : front.href;
}
