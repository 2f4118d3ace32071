// The library needs this polyfill before it is loaded.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(crypto);

export { x509 };
