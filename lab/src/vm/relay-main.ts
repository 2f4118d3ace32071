import { connect, createServer } from 'node:net';

/** In the room: passes what is said to a local port on to a socket in the file system, which networks do not part. */
const [port, path] = process.argv.slice(2);
const server = createServer((client) => {
  const beyond = connect(path ?? '');
  client.pipe(beyond).pipe(client);
  client.on('error', () => beyond.destroy());
  beyond.on('error', () => client.destroy());
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
