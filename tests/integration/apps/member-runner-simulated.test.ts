import { testMemberRunner } from '../../harness/apps/member-runner-suite.ts';
import { machinePlace } from '../../harness/apps/platform-place.ts';
import { launch, waitForState } from '../../harness/allocations/allocations.ts';
import { startTestPlatform } from '../../harness/platform.ts';

testMemberRunner('in a simulated machine', async () => {
  const platform = await startTestPlatform({ nodes: 1 });
  const { id } = await launch(platform.member, platform.projectId, 1);
  await waitForState(platform.member, id, 'active');
  const place = machinePlace(platform, id, {
    listen: (port) => ['node', '-e', `require('net').createServer().listen(${port}, '127.0.0.1')`],
    disk: null,
  });
  return { ...place, close: () => platform.stop() };
});
