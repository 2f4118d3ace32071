import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { StatementDocument } from './build-statement.ts';
import { findStatement, listStatements } from './find-statement.ts';
import { statementCsv } from './statement-csv.ts';
import { statementPdf } from './statement-pdf.ts';

type StatementOperations = Pick<
  operations,
  'listStatements' | 'getStatement' | 'getStatementCsv' | 'getStatementPdf'
>;

export function statementRoutes(): Handlers<StatementOperations, Caller> {
  /** Visible only to callers who may read the tenant's billing. */
  const find = async (caller: Caller, tx: Tx, statementId: string): Promise<StatementDocument> => {
    const statement = await findStatement(tx, statementId);
    authorize(caller, 'billing.read', { kind: 'tenant', organizationId: statement.organization_id });
    return statement;
  };
  return {
    listStatements({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({ status: 200, body: await listStatements(tx, query) }));
    },
    getStatement({ caller, params, read }) {
      return read(async (tx) => ({ status: 200, body: await find(caller, tx, params.statement_id) }));
    },
    async getStatementCsv({ caller, params, read, reply }) {
      const statement = await read((tx) => find(caller, tx, params.statement_id));
      reply.header('content-disposition', `attachment; filename="statement-${statement.number}.csv"`);
      return { status: 200, body: statementCsv(statement), mediaType: 'text/csv; charset=utf-8' };
    },
    async getStatementPdf({ caller, params, read, reply }) {
      const statement = await read((tx) => find(caller, tx, params.statement_id));
      reply.header('content-disposition', `inline; filename="statement-${statement.number}.pdf"`);
      // Bytes, where the contract type can only be a string.
      const body = (await statementPdf(statement)) as unknown as string;
      return { status: 200, body, mediaType: 'application/pdf' };
    },
  };
}
