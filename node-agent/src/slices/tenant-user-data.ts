const BOUNDARY = 'gpuaas-user-data';

export interface UserDataParts {
  ours: string;
  tenants: string | null;
  /** A script that runs early at each boot. */
  hook: string | null;
}

/**
 * All parts as one message that cloud-init reads part by part. If two parts set the same key the later one
 * wins, so ours comes last: even a key that the control plane should have refused leaves our users, keys and
 * names unchanged. Parts are base64, so that no text of a tenant can end its part.
 */
export function toMimeMessage({ ours, tenants, hook }: UserDataParts): string {
  return [
    `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
    'MIME-Version: 1.0',
    '',
    ...(tenants === null
      ? []
      : part(tenants.startsWith('#!') ? 'x-shellscript' : 'cloud-config', 'tenant', tenants)),
    ...(hook === null ? [] : part('cloud-boothook', 'network', hook)),
    ...part('cloud-config', 'platform', ours),
    `--${BOUNDARY}--`,
    '',
  ].join('\n');
}

function part(
  type: 'x-shellscript' | 'cloud-config' | 'cloud-boothook',
  name: string,
  text: string,
): string[] {
  const lines =
    Buffer.from(text)
      .toString('base64')
      .match(/.{1,76}/g) ?? [];
  return [
    `--${BOUNDARY}`,
    `Content-Type: text/${type}; charset="utf-8"`,
    'MIME-Version: 1.0',
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="${name}"`,
    '',
    ...lines,
    '',
  ];
}
