import type { AppUsageDimension } from '../api/billing/app-usage.ts';

export const DIMENSIONS: Record<AppUsageDimension, { label: string; one: string; many: string }> = {
  tokens: { label: 'Tokens', one: 'token', many: 'tokens' },
  requests: { label: 'Requests', one: 'request', many: 'requests' },
  model_seconds: { label: 'Model seconds', one: 'model second', many: 'model seconds' },
};

/** "1,250,000 tokens". */
export function formatQuantity(quantity: number, dimension: AppUsageDimension): string {
  const { one, many } = DIMENSIONS[dimension];
  return `${quantity.toLocaleString('en-US')} ${quantity === 1 ? one : many}`;
}
