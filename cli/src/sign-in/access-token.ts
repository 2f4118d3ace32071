import { refreshTokens } from './device-flow.ts';
import { readTokens, withTokensLocked, writeTokens, type KeptTokens } from './kept-tokens.ts';

/** Time for the request itself, and for clocks that differ. */
const SPARE_MS = 60_000;

/** The access token of the last `gpuaas login` at this platform, renewed when it is about to end. */
export async function accessToken(url: string): Promise<string | null> {
  const tokens = await readTokens(url);
  if (!tokens || isFresh(tokens)) return tokens?.access_token ?? null;
  return await withTokensLocked(async () => {
    // Another command may have renewed them while this one waited.
    const current = await readTokens(url);
    if (!current || isFresh(current)) return current?.access_token ?? null;
    const renewed = await refreshTokens(current);
    await writeTokens(url, renewed);
    return renewed?.access_token ?? null;
  });
}

function isFresh({ expires_at: expiresAt }: KeptTokens): boolean {
  return Date.parse(expiresAt) - Date.now() > SPARE_MS;
}
