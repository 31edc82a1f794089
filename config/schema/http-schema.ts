import { duration, format, group, integer, list, object, type Schema, secret, text } from './builders.ts'

const listener = (description: string, address: string, port: number) =>
  group(description, {
    address: format('ip', 'Local address to listen on.', address),
    port: integer('Port to listen on; 0 selects a free one.', 0, 65_535, port),
  })

/** Schema of a group that `false` turns off. */
const switchable = <const S extends Schema>(schema: S) =>
  ({ ...schema, type: ['object', 'boolean'] }) as const

/** Schema of `http`. */
export const http = group('HTTP and WebSocket listeners for browsers and applications.', {
  plain: switchable(listener('Listener of plain HTTP and WS; false turns it off.', '127.0.0.1', 8080)),
  tls: switchable(
    group('Listener of HTTPS and WSS; false turns it off.', {
      address: format('ip', 'Local address to listen on.', '0.0.0.0'),
      port: integer('Port to listen on; 0 selects a free one.', 0, 65_535, 8443),
      certificate: text(
        'PEM file with the certificate and its chain; requires key. Default a self-signed certificate, ' +
          'which is kept in the data folder.',
      ),
      key: text('PEM file with the private key; requires certificate.'),
      hosts: {
        type: 'array',
        description:
          'Names in the self-signed certificate. Default the host of publicHost, and the same host with ' +
          'its first label replaced by fabric, which the published SDK uses. Without publicHost, localhost.',
        items: format('host', 'Host name or address.'),
        minItems: 1,
      },
    }),
  ),
  metrics: {
    ...object(
      'Separate plain listener for metrics and health. With null, health is on the other listeners. ' +
        'Metrics are then on http.plain if its address is loopback, and otherwise off.',
      {
        address: format('ip', 'Local address to listen on.', '127.0.0.1'),
        port: integer('Port to listen on; 0 selects a free one.', 0, 65_535, 9090),
      },
    ),
    type: ['object', 'null'],
    default: null,
  },
  apiToken: secret(
    'Secret of the first project for the API: the password of Basic auth, with the id of the project as ' +
      'the user name. Without it, the API accepts only tokens that it issued itself; a new gateway ' +
      'has issued none.',
    16,
  ),
  operatorToken: secret(
    'Bearer token of the operator for POST /api/operator/reload, which reloads the configuration. Without ' +
      'it, that path returns 404.',
    32,
  ),
  publicHost: format(
    'host-port',
    'Host by which clients reach the gateway, with the port unless it is 443. It is part of access tokens, ' +
      'recording links and the OAuth issuer.',
  ),
  trustedProxies: list(
    'Networks of proxies that terminate TLS for the gateway. Their X-Forwarded-For and X-Forwarded-Proto ' +
      'headers are trusted. Default none.',
    format('network', 'IP network.'),
    [],
  ),
  maxConnections: integer(
    'Maximum number of connections of one listener. WebSockets count in limits.webSockets instead.',
    8,
    100_000,
    1_024,
  ),
  maxConnectionsPerAddress: integer(
    'Maximum number of connections of one network address on one listener. A further one replaces the ' +
      'oldest idle one; if none is idle, a quarter of maxConnections is the limit. Trusted proxies are ' +
      'exempt.',
    1,
    100_000,
    64,
  ),
  headersTimeout: duration(
    'Maximum time to receive the headers of a request; the connection is then closed.',
    '10s',
  ),
  origins: list(
    "Origins of pages that may use the API; empty permits all. Only these origins and the gateway's " +
      'own page may sign in with a password.',
    format('origin', 'Origin.'),
    [],
  ),
})
