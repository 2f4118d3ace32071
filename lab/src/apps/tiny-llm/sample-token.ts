export interface Sampling {
  /** 0 takes the most probable token. */
  temperature: number;
  /** Only the most probable tokens that have this share together. */
  topP: number;
}

/** Chooses a token; `draw` is a random number from 0 up to 1. */
export function sampleToken(probabilities: Float64Array, sampling: Sampling, draw: number): number {
  const ranked = Array.from(probabilities, (probability, token) => ({ probability, token })).toSorted(
    (a, b) => b.probability - a.probability || a.token - b.token,
  );
  const first = ranked[0]?.token ?? 0;
  if (sampling.temperature === 0) return first;
  const nucleus: { weight: number; token: number }[] = [];
  let share = 0;
  let sum = 0;
  for (const { probability, token } of ranked) {
    if (probability === 0 || (share >= sampling.topP && nucleus.length > 0)) break;
    share += probability;
    const weight = probability ** (1 / sampling.temperature);
    sum += weight;
    nucleus.push({ weight, token });
  }
  let left = draw * sum;
  for (const { weight, token } of nucleus) {
    left -= weight;
    if (left < 0) return token;
  }
  return first;
}

/** Mulberry32: the same seed gives the same numbers. */
export function seededDraws(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
