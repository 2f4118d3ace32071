import { readTokens, withTokensLocked, writeTokens, type StoredTokens } from './stored-tokens.ts';

/** Time for the request itself, and for clocks that differ. */
const SPARE_MS = 60_000;

/** The access token of the last `gpuaas login`, renewed when it is about to end or was refused. */
export async function accessToken(signIn: string, rejected?: string): Promise<string | null> {
  const usable = (tokens: StoredTokens): boolean => isFresh(tokens) && tokens.access_token !== rejected;
  const tokens = await readTokens(signIn);
  if (!tokens || usable(tokens)) return tokens?.access_token ?? null;
  return await withTokensLocked(async () => {
    // Another command may have renewed them in the meantime.
    const current = await readTokens(signIn);
    if (!current || usable(current)) return current?.access_token ?? null;
    const { refreshTokens } = await import('./device-flow.ts');
    const renewed = await refreshTokens(current);
    await writeTokens(signIn, renewed);
    return renewed?.access_token ?? null;
  });
}

function isFresh({ expires_at: expiresAt }: StoredTokens): boolean {
  return Date.parse(expiresAt) - Date.now() > SPARE_MS;
}
