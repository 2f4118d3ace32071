import { describeHostileApp } from './hostile-app.ts';

// All names under it are one site, as on a domain that is no public suffix.
describeHostileApp('apps.localhost');
