export interface AppPrice {
  id: string;
  currency: string;
  perBlockMicros: bigint;
  block: bigint;
}

/** What a tenant has used of an app's dimension at one price. */
export interface AppMeter {
  id: string;
  price: AppPrice;
  quantity: bigint;
  records: bigint;
}

export interface PricedUse {
  sequence: bigint;
  quantityBefore: bigint;
  amountMicros: bigint;
}

/** Cost of the first `quantity` units. Records are differences of it, so that they add up to the cost of the whole. */
export function costOf(price: AppPrice, quantity: bigint): bigint {
  return (price.perBlockMicros * quantity) / price.block;
}

/** Adds a use to the meter. */
export function priceUse(meter: AppMeter, quantity: bigint): PricedUse {
  const before = meter.quantity;
  meter.quantity += quantity;
  meter.records += 1n;
  return {
    sequence: meter.records,
    quantityBefore: before,
    amountMicros: costOf(meter.price, meter.quantity) - costOf(meter.price, before),
  };
}
