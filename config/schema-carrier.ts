import { codecs, ptime } from './schema-codecs.ts'
import { parts } from './schema-parts.ts'
import { challenge, credentials, file, networks } from './schema-sip.ts'
import { srtpSuites } from './srtp-suites.ts'

const { duration, flag, format, integer, list, object, text } = parts

const identity = object('Who calls are said to come from.', {
  from: {
    description:
      'User of From: caller (the caller’s number), username (of auth), or a group with a fixed user.',
    type: ['string', 'object'],
    default: 'caller',
    if: { type: 'string' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { enum: ['caller', 'username'] },
    else: {
      properties: { user: { ...text('The fixed user.'), minLength: 1 } },
      required: ['user'],
      additionalProperties: false,
    },
  },
  host: format('host', 'Host of From; without it, our own.'),
  header: {
    ...text('Header that asserts the caller besides.', 'none'),
    enum: ['none', 'p-asserted-identity', 'p-preferred-identity', 'remote-party-id'],
  },
})

const carrierTls = object('TLS towards it, PEM files.', {
  ca: file('Authorities that may have signed its certificate; without it, those of sip.tls.'),
  certificate: file('Client certificate.'),
  key: file('Its key.'),
  serverName: format(
    'certificate-name',
    'Name to ask for and to check; without it, the host of the target. A wildcard counts only where it is named here as the certificate has it (RFC 5922).',
  ),
  verify: flag('Checks its certificate.', true),
  alpn: list('Protocols for ALPN; some carriers refuse any.', text('A protocol, usually sip.'), []),
})

const numberPrefix = (description: string) => format('number-prefix', description)

/** Schema of an entry of `carriers`. */
export const carrier = object(
  'A carrier: a trunk by which calls go out, and from which they come in.',
  {
    project: format('name', 'Id of the project whose numbers go to it; default the first one.'),
    name: format('name', 'Its name, in logs, metrics and records.'),
    targets: {
      ...list('Where calls go, in this order.', format('sip-target', 'A SIP URI without a user.')),
      minItems: 1,
      maxItems: 16,
    },
    default: flag('E.164 numbers go here.', false),
    allow: networks("Networks whose calls are this carrier's; each domain's own allow holds besides.", []),
    domain: format(
      'host',
      'Domain application that takes its calls to tel: URIs, which name no host; without it, such a call gets 416.',
    ),
    responsePort: {
      ...text(
        'Where responses over UDP go if its request has no rport: to the port that it came from (source), or to the one in its Via (via), for carriers that listen on another port than they send from.',
        'source',
      ),
      enum: ['source', 'via'],
    },
    auth: credentials('Digest credentials that we show to it.', {
      realm: {
        ...text('The only realm that they are for; without it, the first for which a target accepts them.'),
        minLength: 1,
      },
    }),
    challenge,
    identity,
    number: object('How the dialled number is written.', {
      prefix: text('Put before it.', ''),
      plus: { ...text('The leading plus.', 'keep'), enum: ['keep', 'add', 'strip'] },
    }),
    numbers: object(
      'Telephone numbers that may be called by it; without it, all. With it, nothing but telephone numbers may be called.',
      {
        allow: list(
          'Prefixes of numbers that may be called; none: all that are not refused.',
          numberPrefix('A prefix, such as +49, or 110 for numbers that are dialled without a country.'),
          [],
        ),
        refuse: list(
          'Prefixes of numbers that may not be called; of two that fit, in either list, the longer one decides.',
          numberPrefix('A prefix, such as +882.'),
          [],
        ),
      },
      [],
      false,
    ),
    failover: object('When the next target is tried.', {
      statuses: list(
        'Final responses after which it is tried, besides transport errors.',
        integer('A SIP status.', 300, 699),
        [408, 500, 502, 503, 504],
      ),
      noProgress: duration('Longest wait for the first provisional response of a target.', '8s'),
    }),
    srtp: { ...text('SDES SRTP.', 'off'), enum: ['off', 'optional', 'required'] },
    srtpSuites: {
      ...list(
        'Suites of SRTP that are offered to it and taken from it, the first one first; of an offer the first that is permitted is taken, in the order of the offer.',
        { ...text('A suite.'), enum: srtpSuites },
        srtpSuites,
      ),
      minItems: 1,
    },
    srtpWithoutTls: flag('SRTP keys may stand in SDP although the signalling is not encrypted.', false),
    symmetric: {
      ...text(
        'From whom its audio is learnt: strict is the address that its SDP names, with any port; same-ip also the one that its signalling comes from; first whoever sends the first packet that agrees.',
        'strict',
      ),
      enum: ['strict', 'same-ip', 'first'],
    },
    audioFamily: {
      ...text(
        'IP family of the audio that it is offered; without it, that of the target, and IPv4 where a name has addresses of both.',
      ),
      enum: ['ipv4', 'ipv6'],
    },
    inbandDigits: flag(
      'Digits are listened for in the audio itself: for carriers that send neither events nor messages.',
      false,
    ),
    codecs: codecs('Codecs that are offered to it and taken from it, the first one first.', ['PCMU', 'PCMA']),
    ptime,
    comfortNoise: flag(
      'Offers comfort noise (RFC 3389) in place of silence; taken where it is offered.',
      false,
    ),
    lateOffer: flag(
      'Our INVITEs go without SDP: the carrier makes the offer, and our answer goes in the ACK, or in the PRACK of a reliable 183.',
      false,
    ),
    tls: carrierTls,
    register: object(
      'Registers at the first target; without it, not.',
      { expires: duration('Interval that we ask for.', '1h') },
      [],
      false,
    ),
    probe: object(
      'OPTIONS pings of each target; without it, none.',
      {
        interval: duration('Time between two.', '30s'),
        down: integer('So many unanswered ones take the target out.', 1, 100, 3),
        up: integer('So many answered ones bring it back.', 1, 100, 1),
      },
      [],
      false,
    ),
    maxCalls: integer('Calls at once, both ways; default the whole limit.', 1, 1_000_000),
    callsPerSecond: integer('New calls a second, each way.', 1, 100_000),
  },
  ['name', 'targets'],
)
