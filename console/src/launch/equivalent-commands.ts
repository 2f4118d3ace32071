import type { CreateAllocation } from '../api/types.ts';

/** The launch as a command of `gpuaas`. */
export function toCliCommand(body: CreateAllocation): string {
  const flags: [string, string | number | undefined][] = [
    ['project', body.project_id],
    ['sku', body.sku],
    ['gpu-count', body.gpu_count],
    ['image', body.image],
    ['region', body.region],
    ['name', body.name],
    ['max-duration-seconds', body.max_duration_seconds],
    ['tags', body.tags?.join(' ') || undefined],
    ['ssh-key-ids', body.ssh_key_ids?.join(' ') || undefined],
    ['user-data', body.user_data === undefined ? undefined : '@user-data.txt'],
  ];
  const given = flags.filter(([, value]) => value !== undefined).map(([name, value]) => `--${name} ${value}`);
  return ['gpuaas allocations create', ...given].join(' \\\n  ');
}

/** The launch as a call of the API with the key in the environment. */
export function toCurlCommand(body: CreateAllocation, origin: string): string {
  return [
    `curl ${origin}/api/v1/allocations`,
    '-H "authorization: Bearer $GPUAAS_API_KEY"',
    '-H "x-idempotency-key: $(uuidgen)"',
    "-H 'content-type: application/json'",
    // A script may contain the quote that ends the shell's string.
    `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
  ].join(' \\\n  ');
}
