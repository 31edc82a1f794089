import { choice, flag, format, integer, list, object, secret, text } from './builders.ts'
import { codecs } from './codec-schema.ts'
import { carrierCallsOfProject } from './limits-schema.ts'
import { challenge } from './sip-schema.ts'

const belongsTo = format('name', 'Id of the project that owns the entry; default the first project.')

/** Schema of the handler of a domain, endpoint or resource. */
export const handler = (description: string) =>
  object(
    description,
    {
      kind: choice('Language of the document, or realtime for applications that subscribe to a topic.', [
        'xml',
        'script',
        'flow',
        'realtime',
      ]),
      topic: {
        ...text('Topic (context) to which the applications of a realtime handler subscribe.'),
        minLength: 1,
        maxLength: 255,
      },
      url: format('http-url', 'URL that returns the document, requested for every call.'),
      fallbackUrl: format('http-url', 'URL that is requested if url fails.'),
      method: choice('Method of the request; default POST.', ['GET', 'POST']),
      document: {
        writeOnly: true,
        description:
          'Document as text; a script or call flow may also be YAML. Placeholders with upper-case ' +
          'names are environment variables.',
        type: ['string', 'object'],
      },
      file: {
        ...text(
          'File with the document, relative to this file. It is read at start, without replacement of ' +
            'placeholders.',
        ),
        minLength: 1,
      },
    },
    ['kind'],
  )

/** Schema of an entry of `domains`. */
export const domain = object(
  'Domain application.',
  {
    project: belongsTo,
    domain: format('host', 'Host of the request URI of its calls.'),
    allow: list('Networks that may send calls; default all.', format('network', 'IP network.')),
    handler: handler('Handler of its calls; without one, calls are not answered.'),
    maxCalls: integer('Maximum number of concurrent calls; default limits.calls.', 1, 1_000_000),
    callsPerSecond: integer(
      'Maximum number of new calls per second; default no limit of its own.',
      1,
      100_000,
    ),
    callsPerSecondOfSource: integer(
      'Maximum number of new calls per second from one address; default no limit of its own.',
      1,
      100_000,
    ),
    maxCallsOfSource: integer(
      'Maximum number of concurrent calls from one address; default no limit of its own.',
      1,
      1_000_000,
    ),
    challenge,
    codecs: codecs('Codecs to accept from its callers; default those of the carrier, or PCMU and PCMA.'),
  },
  ['domain'],
)

/** Schema of an entry of `subscribers`. */
export const subscriber = object(
  'Subscriber: a person who signs in with a browser.',
  {
    project: belongsTo,
    email: format('email', 'E-mail address for the sign-in.'),
    password: secret(
      'Password for the sign-in; preferably from the environment. The database has only its hash.',
      8,
    ),
    name: format('name', 'Name in the address /context/name; default the local part of the e-mail address.'),
    context: format('name', 'Context in the address /context/name.', 'public'),
    displayName: text('Display name.'),
    firstName: text('First name.'),
    lastName: text('Last name.'),
    mayDialOut: flag(
      'Permits calls to numbers and SIP URIs, besides addresses. Calls to numbers cost money.',
      false,
    ),
    maxCalls: integer(
      'Maximum number of concurrent calls to carriers; default that of limits.carrierCalls.',
      1,
      1_000_000,
    ),
    callsPerSecond: integer(
      'Maximum number of new calls to carriers per second; default that of limits.carrierCalls.',
      1,
      100_000,
    ),
  },
  ['email', 'password'],
)

/** Schema of an entry of `resources`. */
export const resource = object(
  'Resource: an address with a handler.',
  {
    project: belongsTo,
    address: format('address', 'Address, /context/name.'),
    displayName: text('Display name.'),
    handler: handler('Handler of calls to the address.'),
  },
  ['address', 'handler'],
)

/** Schema of an entry of `endpoints`. */
export const endpoint = object(
  'SIP endpoint: a phone that registers.',
  {
    project: belongsTo,
    username: format('name', 'Digest user name, and user part of its address of record.'),
    password: secret(
      'Digest password; preferably from the environment. The database has only its hashes.',
      8,
    ),
    name: format('name', 'Name in the address /context/name; default the user name.'),
    context: format('name', 'Context in the address /context/name.', 'public'),
    displayName: text('Display name.'),
    callerId: text('Caller id of its calls to carriers; default its user name.'),
    mayDialOut: flag('Permits calls to numbers and SIP URIs, besides addresses.', false),
    maxCalls: integer('Maximum number of concurrent outbound calls.', 1, 1_000_000, 10),
    callsPerSecond: integer('Maximum number of new outbound calls per second.', 1, 100_000, 2),
    codecs: codecs('Codecs to offer and accept, in order of preference.', ['PCMU', 'PCMA', 'G722', 'opus']),
    handler: handler('Handler of its calls; default: the dialled destination is called.'),
  },
  ['username', 'password'],
)

/** Schema of an entry of `projects`. */
export const project = object(
  'Additional project.',
  {
    id: format('name', 'Id: the user of Basic auth, and the value of `project` in other entries.'),
    name: format('label', 'Name in the domains of its domain applications; default derived from the id.'),
    apiToken: secret(
      'Secret of its applications for the API. Without it, only tokens that the API issued are valid.',
      16,
    ),
    signingKeys: list(
      "Secrets that sign requests to customers' servers, the current one first; default a generated one.",
      secret('Secret.', 16),
    ),
    carrierCalls: carrierCallsOfProject,
  },
  ['id'],
)
