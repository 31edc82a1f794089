import { choice, flag, format, integer, list, object, secret, text } from './builders.ts'
import { codecs, defaultEndpointCodecs } from './codec-schema.ts'
import { carrierCallsOfProject } from './limits-schema.ts'
import { challenge } from './sip-schema.ts'

/** Schema of the project of an entry. */
export const belongsTo = format('name', 'Id of the project that owns the entry; default the first project.')

/** Schema of the handler of a domain, endpoint or resource. */
export const handler = (description: string) =>
  object(
    description,
    {
      kind: choice(
        'Language of the document: agent is the ai object of scripts, which needs agents. realtime: ' +
          'applications that subscribe to topic.',
        ['xml', 'script', 'flow', 'agent', 'realtime'],
      ),
      topic: {
        ...text(
          'Topic (context) to which the applications subscribe; required for realtime, otherwise not ' +
            'permitted.',
        ),
        minLength: 1,
        maxLength: 255,
      },
      url: format(
        'http-url',
        'URL that returns the document, requested for every call. Exactly one of url, document and file is ' +
          'required, except for realtime; an agent has no url.',
      ),
      fallbackUrl: format('http-url', 'URL to request the document from if url fails.'),
      method: choice('HTTP method for url and fallbackUrl; default POST.', ['GET', 'POST']),
      document: {
        writeOnly: true,
        description:
          'Document as text; a script, call flow or agent may also be YAML. Placeholders with upper-case ' +
          'names are replaced by environment variables.',
        type: ['string', 'object'],
      },
      file: {
        ...text(
          'File with the document, relative to this file. It is read at start and at a reload, and its ' +
            'placeholders are not replaced.',
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
    handler: handler('Handler of its calls; without one, calls are rejected with 480 (no_handler).'),
    maxCalls: integer(
      'Maximum number of concurrent calls; further ones get 503. Default limits.calls.',
      1,
      1_000_000,
    ),
    callsPerSecond: integer(
      'Maximum number of new calls per second; further ones get 503. Default sip.overload.callsPerSecond.',
      1,
      100_000,
    ),
    callsPerSecondOfSource: integer(
      'Maximum number of new calls per second from one address. Default limits.strangers for untrusted ' +
        'callers, and no limit for others.',
      1,
      100_000,
    ),
    maxCallsOfSource: integer(
      'Maximum number of concurrent calls from one address. Default limits.strangers for untrusted ' +
        'callers, and no limit for others.',
      1,
      1_000_000,
    ),
    challenge,
    codecs: codecs(
      'Codecs to accept from its callers; default those of the calling carrier or endpoint, and otherwise ' +
        'PCMU and PCMA.',
    ),
  },
  ['domain'],
)

/** Schema of an entry of `subscribers`. */
export const subscriber = object(
  'Subscriber: a person who signs in with a browser.',
  {
    project: belongsTo,
    email: format('email', 'E-mail address for the sign-in.'),
    password: {
      ...secret(
        'Password for the sign-in, preferably from an environment variable, or its hash, which ' +
          '`trunkline hash-password` prints. Only the hash is stored.',
        8,
      ),
      format: 'password',
    },
    name: format('name', 'Name in the address /context/name; default the local part of the e-mail address.'),
    context: format('name', 'Context in the address /context/name.', 'public'),
    displayName: text('Display name.'),
    firstName: text('First name.'),
    lastName: text('Last name.'),
    mayDialOut: flag(
      'Permits calls to telephone numbers and SIP URIs, not only to addresses of the project. Calls to ' +
        'numbers cost money.',
      false,
    ),
    maxCalls: integer(
      'Maximum number of concurrent calls to carriers; default limits.carrierCalls.perSubscriber.maxCalls.',
      1,
      1_000_000,
    ),
    callsPerSecond: integer(
      'Maximum number of new calls to carriers per second; default ' +
        'limits.carrierCalls.perSubscriber.callsPerSecond.',
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
      'Digest password, preferably from an environment variable. Only its hashes are stored.',
      8,
    ),
    name: format('name', 'Name in the address /context/name; default the user name.'),
    context: format('name', 'Context in the address /context/name.', 'public'),
    displayName: text('Display name.'),
    callerId: text('Caller id of its calls to carriers; default username.'),
    mayDialOut: flag(
      'Permits calls to telephone numbers and SIP URIs, not only to addresses of the project.',
      false,
    ),
    maxCalls: integer('Maximum number of concurrent outbound calls.', 1, 1_000_000, 10),
    callsPerSecond: integer('Maximum number of new outbound calls per second.', 1, 100_000, 2),
    codecs: codecs('Codecs to offer and accept, in order of preference.', defaultEndpointCodecs),
    handler: handler(
      'Handler of the calls that it makes; default: the gateway calls the dialled destination.',
    ),
  },
  ['username', 'password'],
)

/** Schema of an entry of `projects`. */
export const project = object(
  'Additional project.',
  {
    id: format('name', 'Id: the user name in Basic auth, and the value of `project` in other entries.'),
    name: format('label', 'Part of the domains of its domain applications; default derived from the id.'),
    apiToken: secret(
      'Secret for the API: the password of Basic auth, with the id as the user name. Without it, the API ' +
        'accepts only tokens that it issued itself; a new project has none.',
      16,
    ),
    signingKeys: list(
      "Secrets that sign requests to customers' servers, the current one first; default a generated " +
        'secret. See webhooks.signingKeys.',
      secret('Secret.', 16),
    ),
    carrierCalls: carrierCallsOfProject,
  },
  ['id'],
)
