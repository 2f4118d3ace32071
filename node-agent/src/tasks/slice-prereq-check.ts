import type { TaskHandler } from './task-context.ts';

export const checkSlicePrerequisites: TaskHandler<'slice.prereq_check'> = async (params, tools, context) => {
  const report = await tools.host.checkPrerequisites(
    params,
    context.stage('check', 'Checking the host against the slice profile'),
  );
  const missing = report.checks.filter((check) => check.remedy !== null).map((check) => check.id);
  context.log.info({ ready: report.ready, missing }, 'prerequisites checked');
  return report;
};
