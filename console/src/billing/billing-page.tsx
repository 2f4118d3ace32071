import { getRouteApi } from '@tanstack/react-router';
import { ProjectPage } from '../shell/project-page.tsx';
import { AppUsagePanel } from './app-usage-panel.tsx';
import { BudgetsPanel } from './budgets-panel.tsx';
import { CostsPanel } from './costs-panel.tsx';
import { IdlePanel } from './idle-panel.tsx';
import { LedgerPanel } from './ledger-panel.tsx';
import { PaymentsPanel } from './payments-panel.tsx';
import { SpendPanel } from './spend-panel.tsx';
import { StatementsPanel } from './statements-panel.tsx';
import { UsagePanel } from './usage-panel.tsx';

const route = getRouteApi('/signed-in/billing');

export function BillingPage() {
  const { time = 'month', by = 'project' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ProjectPage
      title="Billing"
      subtitle={({ organization }) => `Balance, spend and transactions of ${organization.name}`}
    >
      {({ organization }) => (
        <>
          <SpendPanel organizationId={organization.id} />
          <PaymentsPanel organizationId={organization.id} />
          <CostsPanel
            organizationId={organization.id}
            time={time}
            by={by}
            onChange={(choice) =>
              void navigate({ search: (now) => ({ ...now, ...choice }), replace: true, resetScroll: false })
            }
          />
          <AppUsagePanel organizationId={organization.id} time={time} />
          <IdlePanel organizationId={organization.id} />
          <BudgetsPanel organization={organization} />
          <StatementsPanel organizationId={organization.id} />
          <UsagePanel organizationId={organization.id} />
          <LedgerPanel organizationId={organization.id} />
        </>
      )}
    </ProjectPage>
  );
}
