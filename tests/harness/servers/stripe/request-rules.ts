/** Parameters of Stripe's API that a platform with prepaid balances uses. Any other name is refused. */
export interface RequestRule {
  required: readonly string[];
  allowed: readonly RegExp[];
}

const METADATA = /^metadata\[\w+\]$/;
const EXPAND = /^expand\[\d+\]$/;

export const postRules: Record<string, RequestRule> = {
  customers: { required: [], allowed: [/^name$/, /^email$/, METADATA] },
  'checkout/sessions': {
    required: [
      'mode',
      'success_url',
      'line_items[0][quantity]',
      'line_items[0][price_data][currency]',
      'line_items[0][price_data][unit_amount]',
      'line_items[0][price_data][product_data][name]',
    ],
    allowed: [
      /^(?:mode|customer|client_reference_id|expires_at|success_url|cancel_url)$/,
      /^line_items\[\d+\]\[(?:quantity|price_data)\](?:\[\w+\])*$/,
      /^payment_intent_data\[(?:metadata|setup_future_usage)\](?:\[\w+\])?$/,
      METADATA,
    ],
  },
  payment_intents: {
    required: ['amount', 'currency'],
    allowed: [
      /^(?:amount|currency|customer|payment_method)$/,
      /^allowed_payment_method_types\[\d+\]$/,
      METADATA,
    ],
  },
  'payment_intents/:id/confirm': { required: [], allowed: [/^off_session$/, /^payment_method$/] },
  'payment_intents/:id/cancel': { required: [], allowed: [/^cancellation_reason$/] },
  refunds: { required: ['payment_intent'], allowed: [/^(?:payment_intent|amount|reason)$/, METADATA] },
};

export const getRules: Record<string, RequestRule> = {
  'checkout/sessions/:id': { required: [], allowed: [EXPAND] },
  'payment_intents/:id': { required: [], allowed: [EXPAND] },
  refunds: { required: [], allowed: [/^(?:payment_intent|limit|starting_after)$/] },
  disputes: { required: [], allowed: [/^(?:payment_intent|limit|starting_after)$/] },
  events: { required: [], allowed: [/^(?:limit|starting_after|created\[gte\])$/, /^types\[\d+\]$/] },
};

/** The rule of a path such as `payment_intents/pi_1/confirm`, with the id in it. */
export function ruleOf(
  rules: Record<string, RequestRule>,
  path: string,
): { name: string; id: string | null; rule: RequestRule } | null {
  for (const [name, rule] of Object.entries(rules)) {
    const match = new RegExp(`^${name.replace(':id', '([^/]+)')}$`).exec(path);
    if (match) return { name, id: match[1] ?? null, rule };
  }
  return null;
}

/** Error of the parameters, as Stripe words it. */
export function refusalOf(
  params: URLSearchParams,
  rule: RequestRule,
): { code: string; message: string } | null {
  for (const name of params.keys()) {
    if (!rule.allowed.some((allowed) => allowed.test(name))) {
      return { code: 'parameter_unknown', message: `Received unknown parameter: ${name}` };
    }
  }
  const missing = rule.required.find((name) => !params.has(name));
  return missing ? { code: 'parameter_missing', message: `Missing required param: ${missing}.` } : null;
}
