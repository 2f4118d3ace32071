import { csvLine } from '../../platform/csv.ts';
import { decimalText } from '../../platform/money.ts';
import type { StatementDocument } from './build-statement.ts';

const COLUMNS = [
  'section',
  'from',
  'to',
  'description',
  'allocation_id',
  'project',
  'sku',
  'region',
  'gpus',
  'per_hour',
  'seconds',
  'amount',
  'currency',
];

/** Every line of a statement; the amounts from the opening to the closing balance add up. */
export function statementCsv(statement: StatementDocument): string {
  const { currency } = statement;
  const amount = ({ micros }: { micros: number }) => decimalText(BigInt(micros));
  const blank = Array.from({ length: 7 }, () => null);
  const start = `${statement.month}-01T00:00:00.000Z`;
  const lines = [
    csvLine(COLUMNS),
    csvLine([
      'opening_balance',
      start,
      null,
      'Opening balance',
      ...blank,
      amount(statement.opening_balance),
      currency,
    ]),
    ...statement.usage.map((line) =>
      csvLine([
        'usage',
        line.from,
        line.to,
        line.allocation_name,
        line.allocation_id,
        line.project_name,
        line.sku,
        line.region,
        line.gpu_count,
        amount(line.per_hour),
        line.seconds,
        amount(line.amount),
        currency,
      ]),
    ),
    ...(statement.app_usage ?? []).map((line) =>
      csvLine([
        'app_usage',
        line.from,
        line.to,
        `${line.app}: ${line.quantity} ${line.dimension} at ${amount(line.price)} for ${line.per}`,
        null,
        line.project_name,
        ...Array.from({ length: 5 }, () => null),
        amount(line.amount),
        currency,
      ]),
    ),
    ...(['payments', 'credits', 'corrections', 'other'] as const).flatMap((section) =>
      statement[section].map((line) =>
        csvLine([section, line.posted_at, null, described(line), ...blank, amount(line.amount), currency]),
      ),
    ),
    csvLine([
      'closing_balance',
      null,
      null,
      'Closing balance',
      ...blank,
      amount(statement.closing_balance),
      currency,
    ]),
  ];
  return lines.join('');
}

function described({ reason, tax }: StatementDocument['payments'][number]): string {
  return tax ? `${reason} (and ${decimalText(BigInt(tax.micros))} of tax)` : reason;
}
