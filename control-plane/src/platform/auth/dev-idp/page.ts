import { escapeHtml } from '../../escape-html.ts';
import { createHash } from 'node:crypto';

const STYLE = `
:root { color-scheme: light dark; --ground: #f4f5f7; --card: #fff; --text: #16181d; --quiet: #5b616e;
  --line: #d5d9e0; --accent: #2450c8; --on-accent: #fff; --bad: #b3261e; --bad-ground: #fdecea }
@media (prefers-color-scheme: dark) { :root { --ground: #101216; --card: #191c22; --text: #eceef2;
  --quiet: #a2a9b6; --line: #343a46; --accent: #8fb0ff; --on-accent: #0b1533; --bad: #ffb4ab; --bad-ground: #3b1512 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px 16px; background: var(--ground);
  color: var(--text); font: 16px/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 420px; padding: 28px; background: var(--card); border: 1px solid var(--line); border-radius: 12px }
h1 { margin: 0 0 4px; font-size: 22px; line-height: 1.3 }
h2 { margin: 28px 0 8px; font-size: 15px }
p { margin: 0 0 16px; color: var(--quiet) }
label { display: block; margin: 12px 0 4px; font-size: 14px; font-weight: 600 }
input { width: 100%; padding: 10px 12px; font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--line); border-radius: 8px }
button { width: 100%; margin-top: 16px; padding: 10px 12px; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 8px }
button.plain { color: var(--text); background: transparent; border-color: var(--line) }
button.person { margin-top: 8px; text-align: left; font-weight: 400; color: var(--text); background: transparent; border-color: var(--line) }
button.person:hover, button.plain:hover { border-color: var(--accent) }
button.person strong, button.person span { display: block; overflow-wrap: anywhere }
button.person span { font-size: 14px; color: var(--quiet) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.bad { padding: 10px 12px; border-radius: 8px; color: var(--bad); background: var(--bad-ground) }
code { font: 14px ui-monospace, monospace }
.code { display: block; margin: 8px 0 16px; font-size: 28px; letter-spacing: 2px; text-align: center; color: var(--text) }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
/** A whole page around `body`, which must already be safe HTML. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body><main>${body}</main></body>
</html>`;
}

/**
 * Headers for every page. The console's origin is a form target because browsers apply `form-action`
 * to the redirects after a submitted form too.
 */
export function pageHeaders(consoleOrigin: string): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self' ${consoleOrigin}; ` +
      "frame-ancestors 'none'; base-uri 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}
