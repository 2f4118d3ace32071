import { createHash } from 'node:crypto';

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d9dee5, #333b47); --soft: light-dark(#f5f7f9, #1b2028);
  --dim: light-dark(#5b6675, #9aa5b5); --accent: light-dark(#0b63c4, #7ab8ff); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; } nav li { font-size: 13px; overflow-wrap: anywhere; }
main { padding: 1rem 2rem 6rem; max-width: 62rem; } a { color: var(--accent); }
section { border-top: 1px solid var(--line); padding: 1rem 0; scroll-margin-top: 1rem; }
h2 { margin-top: 3rem; } h3 { margin: 0 0 .3rem; font-size: 1rem; }
code { font: 13px ui-monospace, monospace; } .dim { color: var(--dim); }
.method { display: inline-block; min-width: 4.2em; font-weight: 700; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
details { margin: .4rem 0; } summary { cursor: pointer; } pre { background: var(--soft); padding: .8rem; overflow: auto; }
:target { background: var(--soft); }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border: 0; } }`;

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/** The reference pages contain no script and load nothing: only their own style applies. */
export const DOCS_CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function page(title: string, navigation: string, main: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><nav aria-label="Contents">${navigation}</nav><main>${main}</main></body></html>
`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** One line of the contract's prose, with its `code`. */
export function renderInline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** Contract prose: paragraphs and `code`, nothing more. */
export function renderProse(text: string | undefined): string {
  if (!text) return '';
  const paragraphs = text.trim().split(/\n\s*\n/);
  return paragraphs.map((paragraph) => `<p>${renderInline(paragraph)}</p>`).join('');
}
