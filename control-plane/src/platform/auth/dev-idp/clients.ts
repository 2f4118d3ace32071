import type { ClientMetadata } from 'oidc-provider';

export { API_AUDIENCE } from '../trusted-providers.ts';

export const CONSOLE_CLIENT_ID = 'gpuaas-console';
export const CLI_CLIENT_ID = 'gpuaas-cli';
export const API_SCOPE = 'api';

export type DevIdpClients = { consoleRedirectUri: string; consoleClientSecret: string };

export function clientMetadata({ consoleRedirectUri, consoleClientSecret }: DevIdpClients): ClientMetadata[] {
  return [
    {
      client_id: CONSOLE_CLIENT_ID,
      client_name: 'GPUaaS console',
      client_secret: consoleClientSecret,
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [consoleRedirectUri],
      post_logout_redirect_uris: [new URL('/', consoleRedirectUri).href],
    },
    {
      client_id: CLI_CLIENT_ID,
      client_name: 'GPUaaS command line',
      token_endpoint_auth_method: 'none',
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      response_types: [],
      redirect_uris: [],
    },
  ];
}
