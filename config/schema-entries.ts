import { carrierCallsOfProject } from './schema-clients.ts'
import { codecs } from './schema-codecs.ts'
import { parts } from './schema-parts.ts'
import { challenge } from './schema-sip.ts'

const { flag, format, integer, list, object, text } = parts

const belongsTo = format('name', 'Id of the project that it belongs to; default the first one.')

const handler = (description: string) =>
  object(
    description,
    {
      kind: {
        ...text('Language of the document, or realtime: applications that listen on a topic.'),
        enum: ['xml', 'script', 'flow', 'realtime'],
      },
      topic: {
        ...text('Topic (context) that the applications of a realtime handler listen on.'),
        minLength: 1,
        maxLength: 255,
      },
      url: format('http-url', 'Where the document is asked for at every call.'),
      fallbackUrl: format('http-url', 'Asked when url fails.'),
      method: { ...text('Method of the request; default POST.'), enum: ['GET', 'POST'] },
      document: {
        writeOnly: true,
        description:
          'The document itself, as text; a script or a call flow may also stand here as YAML. Of its placeholders only upper-case names are environment variables.',
        type: ['string', 'object'],
      },
      file: {
        ...text('File with the document, relative to this file; read at start, without replacements.'),
        minLength: 1,
      },
    },
    ['kind'],
  )

/** Schema of an entry of `domains`. */
export const domain = object(
  'A domain application.',
  {
    project: belongsTo,
    domain: format('host', 'Host part of the request-URI that carriers dial.'),
    allow: list('Networks that may send calls; without it anyone may.', format('network', 'An IP network.')),
    handler: handler('What happens with a call; without it calls are not answered.'),
    maxCalls: integer('Calls at once; default the whole limit.', 1, 1_000_000),
    callsPerSecond: integer('New calls a second; without it, no limit of its own.', 1, 100_000),
    callsPerSecondOfSource: integer(
      'New calls a second from one address; without it, no limit of its own.',
      1,
      100_000,
    ),
    maxCallsOfSource: integer(
      'Calls at once from one address; without it, no limit of its own.',
      1,
      1_000_000,
    ),
    challenge,
    codecs: codecs('Codecs that its callers may speak; without it, those of the carrier, or PCMU and PCMA.'),
  },
  ['domain'],
)

/** Schema of an entry of `subscribers`. */
export const subscriber = object(
  'A subscriber.',
  {
    project: belongsTo,
    email: format('email', 'E-mail address, the name to sign in with.'),
    password: {
      ...text('Password to sign in with; better from the environment.'),
      minLength: 8,
      writeOnly: true,
    },
    name: format('name', 'Name in the address /context/name; default the part of the e-mail before @.'),
    context: format('name', 'Context in the address /context/name.', 'public'),
    displayName: text('Name that others see.'),
    firstName: text('First name.'),
    lastName: text('Last name.'),
    mayDialOut: flag('May dial numbers and SIP URIs, besides addresses. Calls to numbers cost money.', false),
    maxCalls: integer(
      'Calls to carriers at once that they begin; default that of limits.carrierCalls.',
      1,
      1_000_000,
    ),
    callsPerSecond: integer(
      'New calls to carriers a second; default that of limits.carrierCalls.',
      1,
      100_000,
    ),
  },
  ['email', 'password'],
)

/** Schema of an entry of `resources`. */
export const resource = object(
  'A thing with an address.',
  {
    project: belongsTo,
    address: format('address', 'Its address, /context/name.'),
    displayName: text('Name that others see.'),
    handler: handler('What runs when it is called.'),
  },
  ['address', 'handler'],
)

/** Schema of an entry of `endpoints`. */
export const endpoint = object(
  'A SIP endpoint.',
  {
    project: belongsTo,
    username: format('name', 'Digest user name, and user of its address of record.'),
    password: { ...text('Digest password; better from the environment.'), minLength: 8, writeOnly: true },
    name: format('name', 'Name in the address /context/name; default the user name.'),
    context: format('name', 'Context in the address /context/name.', 'public'),
    displayName: text('Name that others see.'),
    callerId: text('Number shown when it calls out; default its user name.'),
    mayDialOut: flag('May dial numbers and SIP URIs, besides addresses.', false),
    maxCalls: integer('Calls at once that it makes.', 1, 1_000_000, 10),
    callsPerSecond: integer('New calls a second that it makes.', 1, 100_000, 2),
    codecs: codecs('Codecs that are offered to it and taken from it, the first one first.', [
      'PCMU',
      'PCMA',
      'G722',
      'opus',
    ]),
    handler: handler('What runs when it calls; without it, whom it dialled is called.'),
  },
  ['username', 'password'],
)

/** Schema of an entry of `projects`. */
export const project = object(
  'A further project.',
  {
    id: format('name', 'Its id: the user of Basic auth, and what `project` of other entries says.'),
    name: format('label', 'Name in the domains of its domain applications; default made of the id.'),
    apiToken: {
      ...text(
        'Secret by which its applications use the API. Without it, only tokens that the API made are good.',
      ),
      minLength: 16,
      writeOnly: true,
    },
    signingKeys: list(
      "Secrets that sign what is sent to its customers' servers, the present one first; without them, one is made for it.",
      { ...text('A secret.'), minLength: 16, writeOnly: true },
    ),
    carrierCalls: carrierCallsOfProject,
  },
  ['id'],
)
