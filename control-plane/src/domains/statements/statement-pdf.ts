import { present } from '../../platform/present.ts';
import Pdfkit from 'pdfkit';
import { formatMoney } from '../../platform/money.ts';
import type { StatementDocument } from './build-statement.ts';

const MARGIN = 48;
const INK = '#111827';
const SOFT = '#6b7280';
const RULE = '#d1d5db';
const SHADE = '#f3f4f6';

interface Column {
  title: string;
  /** Share of the width. */
  share: number;
  align?: 'right';
}

/**
 * A statement for people: A4, the balances first, then each line. The same statement gives the same bytes.
 */
export async function statementPdf(statement: StatementDocument): Promise<Buffer> {
  const pdf = new Pdfkit({
    size: 'A4',
    margin: MARGIN,
    bufferPages: true,
    info: {
      Title: `Statement ${statement.number}`,
      Author: 'GPUaaS',
      CreationDate: new Date(statement.closed_at),
      ModDate: new Date(statement.closed_at),
    },
  });
  const chunks: Buffer[] = [];
  pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { promise, resolve } = Promise.withResolvers<void>();
  pdf.on('end', () => resolve());
  heading(pdf, statement);
  summary(pdf, statement);
  usageTable(pdf, statement);
  appUsageTable(pdf, statement);
  for (const [title, section] of [
    ['Payments', 'payments'],
    ['Credits', 'credits'],
    ['Corrections', 'corrections'],
    ['Other', 'other'],
  ] as const) {
    movementTable(pdf, title, statement[section]);
  }
  footers(pdf, statement);
  pdf.end();
  await promise;
  return Buffer.concat(chunks);
}

type Pdf = PDFKit.PDFDocument;

function heading(pdf: Pdf, statement: StatementDocument): void {
  const right = pdf.page.width - MARGIN;
  pdf.font('Helvetica-Bold').fontSize(22).fillColor(INK).text('Statement', MARGIN, MARGIN);
  pdf.font('Helvetica').fontSize(12).fillColor(SOFT).text(monthName(statement.month));
  pdf.fontSize(9).fillColor(SOFT);
  const facts = [
    ['Number', statement.number],
    ['Period', `${statement.month}-01 to ${lastDay(statement.month)} (UTC)`],
    ['Closed', `${statement.closed_at.slice(0, 16).replace('T', ' ')} UTC`],
    ['Currency', statement.currency],
  ] as const;
  facts.forEach(([label, value], index) => {
    const y = MARGIN + 4 + index * 13;
    pdf.fillColor(SOFT).text(label, right - 240, y, { width: 60 });
    pdf.fillColor(INK).text(value, right - 180, y, { width: 180, align: 'right' });
  });
  pdf.font('Helvetica-Bold').fontSize(11).fillColor(INK);
  pdf.text(printable(statement.organization_name), MARGIN, MARGIN + 66);
  pdf.font('Helvetica').fontSize(8).fillColor(SOFT).text(statement.organization_id);
  pdf.moveDown(1.5);
}

/** The way from the opening to the closing balance, each part once. */
function summary(pdf: Pdf, { totals, ...statement }: StatementDocument): void {
  const rows: [string, { currency: string; micros: number }][] = [
    ['Opening balance', statement.opening_balance],
    ['Usage', totals.usage],
    ['Payments, refunds and disputes', totals.payments],
    ['Credits', totals.credits],
    ['Corrections', totals.corrections],
  ];
  if (totals.app_usage) rows.splice(2, 0, ['Apps', totals.app_usage]);
  if (totals.other.micros !== 0) rows.push(['Other', totals.other]);
  if (totals.tax.micros !== 0) rows.push(['Tax, paid beside it', totals.tax]);
  const width = pdf.page.width - 2 * MARGIN;
  const height = rows.length * 16 + 40;
  const top = pdf.y;
  pdf.roundedRect(MARGIN, top, width, height, 6).fill(SHADE);
  let y = top + 10;
  pdf.fontSize(10);
  for (const [label, amount] of rows) {
    pdf
      .font('Helvetica')
      .fillColor(SOFT)
      .text(label, MARGIN + 14, y);
    pdf.fillColor(INK).text(shown(amount), MARGIN + 14, y, { width: width - 28, align: 'right' });
    y += 16;
  }
  pdf
    .moveTo(MARGIN + 14, y)
    .lineTo(MARGIN + width - 14, y)
    .lineWidth(0.5)
    .stroke(RULE);
  pdf
    .font('Helvetica-Bold')
    .fontSize(11)
    .fillColor(INK)
    .text('Closing balance', MARGIN + 14, y + 6);
  pdf.text(shown(statement.closing_balance), MARGIN + 14, y + 6, { width: width - 28, align: 'right' });
  pdf.x = MARGIN;
  pdf.y = top + height + 18;
}

function usageTable(pdf: Pdf, statement: StatementDocument): void {
  const rows = statement.usage.map((line) => [
    printable(line.allocation_name),
    printable(line.project_name),
    `${line.gpu_count} × ${line.sku}`,
    `${line.from.slice(5, 16).replace('T', ' ')} – ${line.to.slice(5, 16).replace('T', ' ')}`,
    duration(line.seconds),
    shown(line.per_hour),
    shown(line.amount),
  ]);
  table(
    pdf,
    'Usage',
    [
      { title: 'Lease', share: 0.16 },
      { title: 'Project', share: 0.11 },
      { title: 'Product', share: 0.19 },
      { title: 'From – to (UTC)', share: 0.23 },
      { title: 'Served', share: 0.09, align: 'right' },
      { title: 'Per hour', share: 0.09, align: 'right' },
      { title: 'Amount', share: 0.13, align: 'right' },
    ],
    rows,
  );
}

function appUsageTable(pdf: Pdf, statement: StatementDocument): void {
  table(
    pdf,
    'Apps',
    [
      { title: 'App', share: 0.24 },
      { title: 'Project', share: 0.18 },
      { title: 'Used', share: 0.23, align: 'right' },
      { title: 'Price', share: 0.2, align: 'right' },
      { title: 'Amount', share: 0.15, align: 'right' },
    ],
    (statement.app_usage ?? []).map((line) => [
      printable(line.app),
      printable(line.project_name),
      `${line.quantity} ${line.dimension.replaceAll('_', ' ')}`,
      `${shown(line.price)} / ${line.per}`,
      shown(line.amount),
    ]),
  );
}

function movementTable(pdf: Pdf, title: string, lines: StatementDocument['payments']): void {
  table(
    pdf,
    title,
    [
      { title: 'Date (UTC)', share: 0.18 },
      { title: 'What', share: 0.64 },
      { title: 'Amount', share: 0.18, align: 'right' },
    ],
    lines.map((line) => [
      line.posted_at.slice(0, 16).replace('T', ' '),
      printable(line.reason) + (line.tax ? `, and ${shown(line.tax)} of tax` : ''),
      shown(line.amount),
    ]),
  );
}

function table(pdf: Pdf, title: string, columns: readonly Column[], rows: readonly string[][]): void {
  if (rows.length === 0) return;
  const width = pdf.page.width - 2 * MARGIN;
  const bottom = pdf.page.height - MARGIN - 24;
  if (pdf.y > bottom - 60) pdf.addPage();
  pdf.font('Helvetica-Bold').fontSize(12).fillColor(INK).text(title, MARGIN, pdf.y);
  pdf.y += 4;
  headings();
  for (const row of rows) {
    pdf.font('Helvetica').fontSize(8);
    const height =
      Math.max(...columns.map((column, i) => heightOf(present(row[i], `cell ${i}`), column))) + 6;
    if (pdf.y + height > bottom) {
      pdf.addPage();
      headings();
    }
    cells(row, pdf.y + 3, INK);
    pdf.y += height;
    pdf
      .moveTo(MARGIN, pdf.y)
      .lineTo(MARGIN + width, pdf.y)
      .lineWidth(0.4)
      .stroke(RULE);
  }
  pdf.x = MARGIN;
  pdf.y += 18;

  function headings(): void {
    pdf.font('Helvetica-Bold').fontSize(8);
    const titles = columns.map((column) => column.title);
    cells(titles, pdf.y + 2, SOFT);
    pdf.y += 16;
    pdf
      .moveTo(MARGIN, pdf.y)
      .lineTo(MARGIN + width, pdf.y)
      .lineWidth(0.8)
      .stroke(SOFT);
  }

  function heightOf(text: string, { share }: Column): number {
    return pdf.heightOfString(text, { width: share * width - 6 });
  }

  function cells(texts: readonly string[], y: number, color: string): void {
    const top = pdf.y;
    let x = MARGIN;
    pdf.fillColor(color);
    columns.forEach(({ share, align }, i) => {
      pdf.text(present(texts[i], `cell ${i}`), x + (align ? 6 : 0), y, {
        width: share * width - 6,
        align: align ?? 'left',
      });
      x += share * width;
    });
    pdf.y = top;
  }
}

function footers(pdf: Pdf, statement: StatementDocument): void {
  const { start, count } = pdf.bufferedPageRange();
  for (let page = start; page < start + count; page += 1) {
    pdf.switchToPage(page);
    // Below the margin, where text would otherwise start another page.
    pdf.page.margins.bottom = 0;
    const y = pdf.page.height - MARGIN + 8;
    const width = pdf.page.width - 2 * MARGIN;
    pdf.font('Helvetica').fontSize(7.5).fillColor(SOFT);
    pdf.text(
      `Statement ${statement.number}. It never changes; what is corrected later is in the next one.`,
      MARGIN,
      y,
    );
    pdf.text(`Page ${page + 1} of ${count}`, MARGIN, y, { width, align: 'right' });
  }
}

function shown({ currency, micros }: { currency: string; micros: number }): string {
  return formatMoney({ currency, micros: BigInt(micros) });
}

/** Hours, minutes and seconds, as on a clock that does not stop at a day. */
function duration(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`;
}

function monthName(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

function lastDay(month: string): string {
  const [year, number] = month.split('-').map(Number);
  if (year === undefined || number === undefined) throw new Error(`not a month: ${month}`);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

/** The built-in fonts have Latin letters only; JSON and CSV contain every name unchanged. */
function printable(text: string): string {
  return text.replaceAll(
    /[^\u0020-\u007e\u00a0-\u00ff\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u20ac]/g,
    '?',
  );
}
