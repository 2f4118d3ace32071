import type { ServerResponse } from 'node:http';
import { FILES } from 'app:files';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Pages load nothing but their own files, and only a page of the same origin may frame them. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Sends a file of the page. False if there is none of this name; names are matched, not resolved. */
export function sendPageFile(response: ServerResponse, name: string): boolean {
  const path = `page/${name}`;
  const content = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  const type = TYPES[name.split('.').at(-1) ?? ''];
  if (content === undefined || type === undefined) return false;
  response
    .writeHead(200, {
      'content-type': type,
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .end(Buffer.from(content, 'base64'));
  return true;
}
