import { createHash } from 'node:crypto';
import { hashWipeStatement, type SignedWipeCertificate } from '@gpuaas/contracts/wipe-certificate';
import { escapeHtml } from '../../../platform/http/reference/page.ts';

const STYLE = `
@page { margin: 2cm; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } p { margin: .3rem 0 1.2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #ccc; }
th { width: 12rem; font-weight: 600; } td { overflow-wrap: anywhere; }
.mono { font: 12px/1.5 ui-monospace, monospace; } .bad { color: #a30000; font-weight: 700; }`;

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/** No scripts, no external content, no forms: only the page's own style applies. */
export const CERTIFICATE_CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The printable certificate. The signed JSON is authoritative; the page names it by its hash. */
export function certificatePage({ certificate, signature }: SignedWipeCertificate): string {
  const tools = certificate.tools.map(({ name, version }) => `${name} ${version}`).join(', ');
  const rows: [string, string][] = [
    ['Allocation', certificate.resource_name],
    ['Slot', `${certificate.slot_index} (${certificate.slot_id})`],
    ['Device serial', certificate.device_serial],
    ['Method', certificate.method],
    ['Verification', certificate.verification],
    ['Verified by', certificate.proven_by === 'host' ? 'the host that wiped it' : 'attested by an operator'],
    ['Tools', tools || 'not recorded'],
    ['Began', certificate.started_at],
    ['Ended', certificate.finished_at],
    ['Issued', certificate.issued_at],
    ['Certificate', `${certificate.certificate_id}, number ${certificate.sequence}`],
  ];
  const seal: [string, string][] = [
    ['SHA-256', hashWipeStatement(certificate)],
    ['Previous certificate', certificate.previous_hash],
    ['Signing key', certificate.key_id],
    ['Signature', signature],
  ];
  const verdict = certificate.verified
    ? '<p>The disk named below was wiped and read back as empty.</p>'
    : '<p class="bad">The wipe was not verified. The disk was quarantined and not reused.</p>';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Wipe certificate ${certificate.sequence}</title><style>${STYLE}</style></head>
<body><main><h1>${certificate.verified ? 'Wipe certificate' : 'Record of a failed wipe'}</h1>
${verdict}${table(rows, '')}<h2>Seal</h2>
<p>Check it without us: <code>gpuaas certificates verify</code> with the JSON form of this certificate and the keys
published at <code>/api/v1/wipe-certificate-keys</code>.</p>${table(seal, 'mono')}</main></body></html>
`;
}

function table(rows: [string, string][], style: string): string {
  const body = rows.map(
    ([name, value]) =>
      `<tr><th scope="row">${escapeHtml(name)}</th><td class="${style}">${escapeHtml(value)}</td></tr>`,
  );
  return `<table><tbody>${body.join('')}</tbody></table>`;
}
