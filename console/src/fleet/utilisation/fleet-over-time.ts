import type { UtilisationStep } from '../../api/billing/reports.ts';

export interface UtilisationPoint {
  at: string;
  /** Share of all sellable GPUs, across regions and models. */
  soldPercent: number;
  /** Share of the leased GPUs; null where no host could measure it. */
  busyPercent: number | null;
}

/** The fleet as a whole, step by step. */
export function fleetOverTime(steps: readonly UtilisationStep[]): UtilisationPoint[] {
  return [...Map.groupBy(steps, ({ at }) => at)].map(([at, parts]) => {
    const sum = (of: (part: UtilisationStep) => number) => parts.reduce((total, part) => total + of(part), 0);
    const seen = parts.filter((part) => part.busy_percent !== null && part.sold > 0);
    const sold = seen.reduce((total, part) => total + part.sold, 0);
    return {
      at,
      soldPercent: (sum((part) => part.sold) * 100) / sum((part) => part.approved),
      busyPercent:
        sold > 0 ? seen.reduce((total, part) => total + part.busy_percent! * part.sold, 0) / sold : null,
    };
  });
}
