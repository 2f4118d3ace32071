import { describeWorkerKills } from './kill-cases.ts';

// One here; the others, kills of agents and broken hosts are in crashes.deep.test.ts.
describeWorkerKills(['provision.issue:after']);
