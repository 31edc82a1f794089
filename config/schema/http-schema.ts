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
export const http = group('HTTP and WebSocket, towards browsers and applications.', {
  plain: switchable(listener('Plain HTTP and WS; false turns it off.', '127.0.0.1', 8080)),
  tls: switchable(
    group('HTTPS and WSS; false turns it off.', {
      address: format('ip', 'Local address to listen on.', '0.0.0.0'),
      port: integer('Port to listen on; 0 takes a free one.', 0, 65_535, 8443),
      certificate: text(
        'PEM file of the certificate; default a self-signed one, which is kept in the data folder.',
      ),
      key: text('PEM file of the key.'),
      hosts: {
        type: 'array',
        description:
          'Names in a self-signed certificate; default the host of publicHost, and the same with ' +
          'fabric as its first label, which the published SDK uses. Without publicHost: localhost.',
        items: format('host', 'Host name or address.'),
        minItems: 1,
      },
    }),
  ),
  metrics: {
    ...object(
      'Separate plain listener for metrics and health. null: health is on the other listeners; metrics ' +
        'are on the plain one, if that listens on loopback, and otherwise off.',
      {
        address: format('ip', 'Local address to listen on.', '127.0.0.1'),
        port: integer('Port to listen on; 0 takes a free one.', 0, 65_535, 9090),
      },
    ),
    type: ['object', 'null'],
    default: null,
  },
  apiToken: secret(
    'Secret of applications for the API: the password of Basic auth; the user is the id of the ' +
      'project. Without it, the API is closed.',
    16,
  ),
  operatorToken: secret(
    'Bearer token of the operator, which permits a reload of the configuration over HTTP. Without it, ' +
      'that path does not exist.',
    32,
  ),
  publicHost: format('host-port', 'Host, and port if needed, that clients use; part of tokens.'),
  trustedProxies: list(
    'Proxies that terminate TLS for the gateway: their X-Forwarded-For and X-Forwarded-Proto headers ' +
      'are trusted. Default none.',
    format('network', 'IP network.'),
    [],
  ),
  maxConnections: integer(
    'Maximum number of connections of one listener, without WebSockets: limits.webSockets limits those.',
    8,
    100_000,
    1_024,
  ),
  maxConnectionsPerAddress: integer(
    'Maximum number of idle connections of one network address on one listener; a new one replaces the ' +
      'oldest. Trusted proxies have no limit.',
    1,
    100_000,
    64,
  ),
  headersTimeout: duration('Maximum time to receive the headers of a request.', '10s'),
  origins: list(
    "Origins of pages that may use the API; empty permits all. Only these origins and the gateway's " +
      'own page may sign in with a password.',
    format('origin', 'Origin.'),
    [],
  ),
})
