import { connect, Socket } from 'node:net';

/** Standard input and output as a connection to a port of the network this process was put into. */
const socket = connect({ host: '127.0.0.1', port: Number(process.argv[2]), allowHalfOpen: true });
// `process.stdout` cannot be ended, and its end is what tells that the port has closed its half.
const output = new Socket({ fd: 1, readable: false, writable: true });
socket.once('connect', () => {
  process.stderr.write('connected\n');
  process.stdin.pipe(socket);
  socket.pipe(output);
});
socket.once('error', () => process.exit(1));
output.once('error', () => process.exit(1));
