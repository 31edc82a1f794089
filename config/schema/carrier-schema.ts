import { srtpSuites } from '../srtp-suites.ts'
import { choice, duration, flag, format, group, integer, list, object, text } from './builders.ts'
import { codecs, ptime } from './codec-schema.ts'
import { challenge, credentials, file, networks } from './sip-schema.ts'

const identity = group('Identity of the caller in outbound INVITEs.', {
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
  host: format('host', "Host of From; default the gateway's own."),
  header: choice(
    'Additional header that asserts the caller.',
    ['none', 'p-asserted-identity', 'p-preferred-identity', 'remote-party-id'],
    'none',
  ),
})

const carrierTls = group('TLS towards the carrier, with PEM files.', {
  ca: file("Certificate authorities for the carrier's certificate; default those of sip.tls."),
  certificate: file('Client certificate.'),
  key: file('Key of the client certificate.'),
  serverName: format(
    'certificate-name',
    "Name to request (SNI) and to check; default the target's host. A wildcard certificate is accepted " +
      "only if this key has the same wildcard (RFC 5922); the target's host is then requested.",
  ),
  verify: flag("Verifies the carrier's certificate.", true),
  alpn: list('Protocols for ALPN; some carriers reject all of them.', text('A protocol, usually sip.'), []),
})

const numberPrefix = (description: string) => format('number-prefix', description)

/** Schema of an entry of `carriers`. */
export const carrier = object(
  'Carrier: a trunk for outbound and inbound calls.',
  {
    project: format('name', 'Id of the project that owns the carrier; default the first project.'),
    name: format('name', 'Name in logs, metrics and records.'),
    targets: {
      ...list(
        'Targets of outbound calls, tried in order.',
        format('sip-target', 'A SIP URI without a user.'),
      ),
      minItems: 1,
      maxItems: 16,
    },
    default: flag('Receives calls to E.164 numbers of its project; at most one carrier of a project.', false),
    allow: networks(
      'Networks whose calls belong to this carrier. The allow list of each domain applies too.',
      [],
    ),
    domain: format(
      'host',
      "Domain application for the carrier's calls to tel: URIs, which have no host; without it, such " +
        'calls get 416.',
    ),
    responsePort: choice(
      'Port for responses over UDP to requests without rport (RFC 3581): the source port (source), or ' +
        'the port in Via (via) for carriers that listen on another port than they send from.',
      ['source', 'via'],
      'source',
    ),
    auth: credentials('Digest credentials for challenges of the carrier; only its targets receive them.', {
      realm: {
        ...text('Only realm for the credentials; default the first realm for which a target accepts them.'),
        minLength: 1,
      },
    }),
    challenge,
    identity,
    number: group('Format of the dialled number.', {
      prefix: text('Prefix of the number.', ''),
      plus: choice('Handling of the leading plus.', ['keep', 'add', 'strip'], 'keep'),
    }),
    numbers: object(
      'Permitted telephone numbers; default all. With this group, other destinations than telephone ' +
        'numbers are rejected.',
      {
        allow: list(
          'Prefixes of permitted numbers; empty permits all that are not refused.',
          numberPrefix('Prefix such as +49, or 110 for numbers without a country code.'),
          [],
        ),
        refuse: list(
          'Prefixes of rejected numbers. The longest matching prefix of both lists decides.',
          numberPrefix('Prefix such as +882.'),
          [],
        ),
      },
    ),
    failover: group('Conditions for trying the next target.', {
      statuses: list(
        'Final responses after which the next target is tried, besides transport errors.',
        integer('SIP status.', 300, 699),
        [408, 500, 502, 503, 504],
      ),
      noProgress: duration('Maximum wait for the first provisional response of a target.', '8s'),
    }),
    srtp: choice('Use of SRTP with keys in SDP (SDES).', ['off', 'optional', 'required'], 'off'),
    srtpSuites: {
      ...list(
        'SRTP suites to offer and accept, in order of preference. In an answer, the first permitted ' +
          'suite of the offer is selected.',
        choice('SRTP suite.', srtpSuites),
        srtpSuites,
      ),
      minItems: 1,
    },
    srtpWithoutTls: flag('Permits SRTP keys in SDP over unencrypted signalling.', false),
    symmetric: choice(
      'Accepted source of its audio: strict is the address in its SDP, with any port; same-ip is also ' +
        'the address of its signalling; first is the sender of the first valid packet.',
      ['strict', 'same-ip', 'first'],
      'strict',
    ),
    audioFamily: choice(
      'IP family of the offered audio; default that of the target, and IPv4 if its name has addresses ' +
        'of both.',
      ['ipv4', 'ipv6'],
    ),
    inbandDigits: flag(
      'Detects DTMF digits in the audio, for carriers that send neither telephone events nor INFO messages.',
      false,
    ),
    codecs: codecs('Codecs to offer and accept, in order of preference.', ['PCMU', 'PCMA']),
    ptime,
    comfortNoise: flag(
      'Offers comfort noise (RFC 3389) during silence; an offer of the carrier is always accepted.',
      false,
    ),
    lateOffer: flag(
      "Sends INVITEs without SDP: the carrier makes the offer, and the gateway's answer is in the ACK, " +
        'or in the PRACK of a reliable 183.',
      false,
    ),
    tls: carrierTls,
    register: object('Registration at the first target; default none.', {
      expires: duration('Expiry to request.', '1h'),
    }),
    probe: object('OPTIONS pings of each target; default none.', {
      interval: duration('Interval of the pings.', '30s'),
      down: integer('Number of unanswered pings that disables a target.', 1, 100, 3),
      up: integer('Number of answered pings that enables it again.', 1, 100, 1),
    }),
    maxCalls: integer(
      'Maximum number of concurrent calls in both directions; default limits.calls.',
      1,
      1_000_000,
    ),
    callsPerSecond: integer('Maximum number of new calls per second in each direction.', 1, 100_000),
  },
  ['name', 'targets'],
)
