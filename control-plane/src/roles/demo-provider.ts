import { ConfigError, type Config } from './config.ts';
import { isLoopback } from './settings/loopback.ts';

/** The passwords of the embedded identity provider are public, an operator's among them. */
export function requireLoopbackForDemo({
  oidc,
  host,
  publicUrl,
}: Pick<Config, 'oidc' | 'host' | 'publicUrl'>): void {
  if (oidc) return;
  const reachable = [
    ...(isLoopback(host) ? [] : [`GPUAAS_HOST is ${host}`]),
    ...(isLoopback(new URL(publicUrl).hostname) ? [] : [`GPUAAS_PUBLIC_URL is ${publicUrl}`]),
  ];
  if (reachable.length === 0) return;
  throw new ConfigError(
    `${reachable.join(' and ')}, and the embedded identity provider has demo people with known passwords: ` +
      'set GPUAAS_OIDC_ISSUER to a provider of your own, or stay on 127.0.0.1',
  );
}
