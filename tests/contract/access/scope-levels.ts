/** Where the permission of an operation is checked, by its `x-scope`: what the operation is about, or where it is said. */
export const scopeLevels: Record<string, 'project' | 'tenant' | 'any project'> = {
  allocation: 'project',
  project: 'project',
  'service-account': 'project',
  'ssh-key': 'project',
  webhook: 'project',
  reservation: 'project',
  'project-query': 'project',
  'project-body': 'project',
  tenant: 'tenant',
  identity_provider: 'tenant',
  budget: 'tenant',
  payment: 'tenant',
  payment_method: 'tenant',
  'organization-query': 'tenant',
  'organization-body': 'tenant',
  'any-project': 'any project',
};
