import manifest from '../package.json' with { type: 'json' };

export const AGENT_VERSION = manifest.version;
