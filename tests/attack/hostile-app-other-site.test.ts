import { describeHostileApp } from './hostile-app.ts';

// To a browser every name under `localhost` is a site of its own.
describeHostileApp('localhost');
