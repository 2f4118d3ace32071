import { problems } from '@gpuaas/contracts/generated/problems.ts';
import { escapeHtml, page } from './page.ts';

/** Every problem type, by code: the target of the `type` member of a problem. */
export function problemsPage(): string {
  const entries = Object.entries(problems).toSorted(([a], [b]) => a.localeCompare(b));
  const navigation = `<p><a href="/docs">API reference</a></p><ul>${entries
    .map(([code]) => `<li><a href="#${code}">${code}</a></li>`)
    .join('')}</ul>`;
  const main = `<h1>Problems</h1>
<p>A refused request is answered with <code>application/problem+json</code> (RFC 9457). <code>code</code> is for programs and does not change; <code>correlation_id</code> names the request in logs and audit; <code>errors</code> points to the fields.</p>
${entries.map(([code, problem]) => entry(code, problem)).join('\n')}`;
  return page('GPUaaS problems', navigation, main);
}

function entry(code: string, { status, title }: { status: number; title: string }): string {
  return `<section id="${code}"><h3><code>${code}</code> <span class="dim">${status}</span></h3><p>${escapeHtml(title)}.</p></section>`;
}
