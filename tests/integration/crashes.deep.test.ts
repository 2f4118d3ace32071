import { describeAgentKills, describeWorkerKills } from './kill-cases.ts';

describeWorkerKills(['provision.begin:after', 'provision.issue:before', 'provision.activate:before']);
describeAgentKills(['slice.vm_provision:image', 'slice.vm_provision:readiness']);
