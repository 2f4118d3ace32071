/** Polls until `probe` gives something other than null or undefined; the deadline is generous, not a measure. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | null | undefined>,
  deadlineMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== null && value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
