import { describeHostileApp } from './hostile-app.ts';

// To a browser every name under `localhost` is a separate site.
describeHostileApp('localhost');
