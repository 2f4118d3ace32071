import type { AppAddress } from '../api/types.ts';

/** A call of the app with the key in the environment, at the address that any program can resolve. */
export function toCurlLine({ program_url: url }: Pick<AppAddress, 'program_url'>): string {
  return `curl -H "authorization: Bearer $GPUAAS_API_KEY" ${url}`;
}

/** The commands of `gpuaas` for an instance. */
export function toCliLines(id: string, hasAddress: boolean): { label: string; value: string }[] {
  return [
    ...(hasAddress
      ? [
          { label: 'Open command', value: `gpuaas apps open ${id}` },
          { label: 'Share command', value: `gpuaas apps share ${id}` },
        ]
      : []),
    { label: 'Log command', value: `gpuaas apps logs -f ${id}` },
    { label: 'Stop command', value: `gpuaas apps stop ${id}` },
  ];
}
