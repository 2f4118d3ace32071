/** Where the permission of an operation is checked, by its `x-scope`. */
export const scopeLevels: Record<
  string,
  'project' | 'tenant' | 'team' | 'any project' | 'any project or team'
> = {
  allocation: 'project',
  'app-instance': 'project',
  project: 'project',
  'service-account': 'project',
  'ssh-key': 'project',
  webhook: 'project',
  reservation: 'project',
  'registry-repository': 'project',
  'project-query': 'project',
  'project-body': 'project',
  tenant: 'tenant',
  identity_provider: 'tenant',
  budget: 'tenant',
  payment: 'tenant',
  statement: 'tenant',
  payment_method: 'tenant',
  'organization-query': 'tenant',
  'organization-body': 'tenant',
  team: 'team',
  'any-project': 'any project',
  'any-project-or-team': 'any project or team',
};
