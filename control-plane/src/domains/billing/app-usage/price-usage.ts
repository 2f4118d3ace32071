export interface AppPrice {
  id: string;
  currency: string;
  perBlockMicros: bigint;
  block: bigint;
}

/** A tenant's usage of an app's dimension at one price. */
export interface AppMeter {
  id: string;
  price: AppPrice;
  quantity: bigint;
  records: bigint;
}

export interface PricedUsage {
  sequence: bigint;
  quantityBefore: bigint;
  amountMicros: bigint;
}

/** Cost of the first `quantity` units. Records are differences of it, so that they add up to the cost of the whole. */
export function costOfUnits(price: AppPrice, quantity: bigint): bigint {
  return (price.perBlockMicros * quantity) / price.block;
}

/** Adds usage to the meter. */
export function priceUsage(meter: AppMeter, quantity: bigint): PricedUsage {
  const before = meter.quantity;
  meter.quantity += quantity;
  meter.records += 1n;
  return {
    sequence: meter.records,
    quantityBefore: before,
    amountMicros: costOfUnits(meter.price, meter.quantity) - costOfUnits(meter.price, before),
  };
}
