import { agents } from './agents-schema.ts'
import { choice, duration, flag, format, group, integer, list, map, secret, text } from './builders.ts'
import { carrier } from './carrier-schema.ts'
import { domain, endpoint, project, resource, subscriber } from './entry-schemas.ts'
import { http } from './http-schema.ts'
import { limits } from './limits-schema.ts'
import { media } from './media-schema.ts'
import { oauth } from './oauth-schema.ts'
import { push } from './push-schema.ts'
import { room } from './room-schema.ts'
import { sip } from './sip-schema.ts'

const log = group('Log of the gateway.', {
  level: choice(
    'Minimum level of the lines that are written; silent writes none.',
    ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    'info',
  ),
  pretty: {
    description:
      'Writes one readable line for each event instead of JSON. Default true if the standard output is a ' +
      'terminal, otherwise false.',
    type: 'boolean',
  },
  details: flag('Writes all fields of each event below its readable line. Without pretty, no effect.', false),
})

const store = group('Database of the directory.', {
  url: {
    ...format('postgres-url', 'URL of a PostgreSQL database; default a SQLite file in the data folder.'),
    writeOnly: true,
  },
  connections: integer('Maximum number of connections to PostgreSQL.', 1, 1_000, 10),
  startTimeout: duration('Maximum wait for PostgreSQL at start, after which the start fails.', '30s'),
})

const webhooks = group("Requests to customers' servers.", {
  signingKeys: list(
    'Secrets that sign requests, the current one first. Keep an older one in the list while a server still ' +
      'verifies with it. Default a generated secret, which `trunkline signing-key` prints.',
    secret('Secret.', 16),
    [],
  ),
  recordsUrl: format(
    'http-url',
    'URL that receives the record of each call by POST with JSON. By default, records are only logged and ' +
      'stored.',
  ),
})

/**
 * JSON Schema of the configuration file. `node config/write-schema.ts` writes it to `schema.json` for
 * editors.
 */
export const configSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Trunkline configuration',
  type: 'object',
  properties: {
    project: format(
      'name',
      'Id of the first project, which owns all entries of this file without a project of their own.',
      'default',
    ),
    projects: list('Additional projects.', project, []),
    dataDir: text(
      'Folder for the SQLite database, keys, generated certificates and recordings; relative to this file.',
      './data',
    ),
    store,
    log,
    sip,
    media,
    agents,
    http,
    limits,
    oauth,
    webhooks,
    push,
    envs: map('Variables that documents can read as envs.<name>.', secret('A value.'), {}),
    domains: list('Domain applications: SIP domains that receive calls.', domain, []),
    carriers: list('Carriers: trunks for outbound and inbound calls.', carrier, []),
    endpoints: list('SIP endpoints: phones that register and have an address.', endpoint, []),
    subscribers: list('People who sign in with a browser.', subscriber, []),
    resources: list('Resources: addresses with a handler.', resource, []),
    rooms: list('Video rooms.', room, []),
    drain: duration(
      'Time after SIGTERM for calls to end by themselves; the gateway then hangs up the rest.',
      '30s',
    ),
  },
  additionalProperties: false,
} as const
