import { connect, createServer } from 'node:net';

/** In the namespace: relays a local port to a socket in the file system, which is shared across networks. */
const [port, path] = process.argv.slice(2);
const server = createServer((client) => {
  const beyond = connect(path ?? '');
  client.pipe(beyond).pipe(client);
  client.on('error', () => beyond.destroy());
  beyond.on('error', () => client.destroy());
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
