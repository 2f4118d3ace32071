import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../../ids.ts';
import { Problem } from '../problem.ts';
import { refuseUpgrade } from '../refuse-upgrade.ts';
import { createTargetCheck, type TargetRules } from './request-target.ts';
import { securityHeaders } from './security-headers.ts';

export type RawHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** First handler of the public port: sets the headers of every response and checks the host name. */
export function guardRequests(rules: TargetRules, handler: RawHandler): RawHandler {
  const headers = securityHeaders(rules.publicUrl);
  const check = createTargetCheck(rules);
  return (request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    const verdict = check(request);
    switch (verdict.kind) {
      case 'serve':
        return handler(request, response);
      case 'serve_without_cookies':
        delete request.headers.cookie;
        return handler(request, response);
      case 'redirect':
        response.writeHead(302, { location: verdict.location, 'cache-control': 'no-store' }).end();
        return;
      case 'malformed':
        return refuse(response, new Problem('invalid_request', verdict.detail));
      case 'misdirected':
        return refuse(response, misdirected(rules));
    }
  };
}

/** Stands before upgrades: those of another site are refused, those of programs have no cookies. */
export function guardUpgrades(
  rules: TargetRules,
  accept: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): typeof accept {
  const check = createTargetCheck(rules);
  return (request, socket, head) => {
    const verdict = check(request);
    switch (verdict.kind) {
      case 'serve':
        return accept(request, socket, head);
      case 'serve_without_cookies':
        delete request.headers.cookie;
        return accept(request, socket, head);
      case 'malformed':
        return refuseUpgrade(socket, new Problem('invalid_request', verdict.detail), rules.publicUrl);
      case 'redirect':
      case 'misdirected':
        return refuseUpgrade(socket, misdirected(rules), rules.publicUrl);
    }
  };
}

/** Node answers an `Expect` that it does not know without our headers, unless somebody else does. */
export function refuseExpectations({ publicUrl }: TargetRules): RawHandler {
  const headers = securityHeaders(publicUrl);
  return (_request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    response.writeHead(417, { connection: 'close' }).end();
  };
}

function misdirected({ publicUrl }: TargetRules): Problem {
  return new Problem('misdirected_request', `This platform answers at ${new URL(publicUrl).origin}.`);
}

function refuse(response: ServerResponse, problem: Problem): void {
  const correlationId = newId();
  response
    .writeHead(problem.status, {
      'content-type': 'application/problem+json',
      'x-correlation-id': correlationId,
      'cache-control': 'no-store',
      // An unread body must not be parsed as the next request.
      connection: 'close',
    })
    .end(JSON.stringify(problem.toJson(correlationId)));
}
