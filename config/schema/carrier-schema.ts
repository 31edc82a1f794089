import { srtpSuites } from '../srtp-suites.ts'
import { choice, duration, flag, format, group, integer, list, object, text } from './builders.ts'
import { codecs, ptime } from './codec-schema.ts'
import { challenge, credentials, file, networks } from './sip-schema.ts'

const identity = group('Identity of the caller in outbound INVITEs.', {
  from: {
    description:
      'User part of From: caller is the number of the caller, username that of auth. A group with the key ' +
      'user sets a fixed one.',
    type: ['string', 'object'],
    default: 'caller',
    if: { type: 'string' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { enum: ['caller', 'username'] },
    else: {
      properties: { user: { ...text('Fixed user part of From.'), minLength: 1 } },
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

const carrierTls = group('TLS connections to the carrier. Files are PEM.', {
  ca: file("Certificate authorities that the carrier's certificate is checked against; default sip.tls.ca."),
  certificate: file('Client certificate, if the carrier requires one; requires key.'),
  key: file('Private key of the client certificate.'),
  serverName: format(
    'certificate-name',
    "Name that the gateway requests (SNI) and expects in the carrier's certificate; default the target's " +
      'host. For a wildcard certificate (RFC 5922), set the same wildcard; SNI then has the host ' +
      'of the target.',
  ),
  verify: flag(
    "Verifies the carrier's certificate; with false, calls to the carrier can be intercepted.",
    true,
  ),
  alpn: list(
    'Protocols to offer by ALPN. Default none, because some carriers reject connections that offer any.',
    text('Protocol, usually sip.'),
    [],
  ),
})

const numberPrefix = (description: string) => format('number-prefix', description)

/** Schema of an entry of `carriers`. */
export const carrier = object(
  'Carrier: a trunk for outbound and inbound calls.',
  {
    project: format('name', 'Id of the project that owns the carrier; default the first project.'),
    name: format('name', 'Unique name, for logs, metrics and records.'),
    targets: {
      ...list(
        'Targets of outbound calls, tried in order (see failover).',
        format('sip-target', 'A SIP URI without a user.'),
      ),
      minItems: 1,
      maxItems: 16,
    },
    default: flag(
      'Routes the calls of its project to telephone numbers. At most one carrier of a project has true; ' +
        'without any, such calls fail.',
      false,
    ),
    allow: networks(
      'Networks from which this carrier sends calls. The called domain must permit the address as well, ' +
        'if it has an allow list.',
      [],
    ),
    domain: format(
      'host',
      "Domain application that receives the carrier's calls to tel: URIs, which have no host. Without it, " +
        'such calls get 416.',
    ),
    responsePort: choice(
      'Port of responses over UDP to requests without rport (RFC 3581): source is the port of the sender, ' +
        'via the port in Via. Use via for a carrier that listens on another port than it sends from.',
      ['source', 'via'],
      'source',
    ),
    auth: credentials('Digest credentials for challenges of the carrier; only its targets receive them.', {
      realm: {
        ...text(
          'Realm that may receive the credentials; default the first realm for which a target accepts them.',
        ),
        minLength: 1,
      },
    }),
    challenge,
    identity,
    number: group('Changes of the dialled number for this carrier.', {
      prefix: text('Digits to put before the number.', ''),
      plus: choice('Whether to keep, add or strip the leading plus.', ['keep', 'add', 'strip'], 'keep'),
    }),
    numbers: object(
      'Telephone numbers that may be called; default all. If this group is present, even empty, ' +
        'destinations other than telephone numbers are rejected.',
      {
        allow: list(
          'Prefixes of permitted numbers; empty permits every number that no prefix of refuse matches.',
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
    failover: group('Failures after which the next target is tried.', {
      statuses: list(
        'Final responses after which the next target is tried. Transport errors always have this effect.',
        integer('SIP status.', 300, 699),
        [408, 500, 502, 503, 504],
      ),
      noProgress: duration(
        'Maximum wait for the first response of a target, such as 100; the next target is then tried. No ' +
          'effect with a separate drachtio server.',
        '8s',
      ),
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
    srtpWithoutTls: flag(
      'Permits SRTP keys in SDP over unencrypted signalling, where others can read them.',
      false,
    ),
    symmetric: choice(
      'Source from which the audio of the carrier is accepted. strict: the address in its SDP, with any ' +
        'port; same-ip: also the address of its signalling; first: the sender of the first valid packet.',
      ['strict', 'same-ip', 'first'],
      'strict',
    ),
    audioFamily: choice(
      'IP family of the offered audio. Default the family of the target, or IPv4 if the name of the ' +
        'target has addresses of both.',
      ['ipv4', 'ipv6'],
    ),
    inbandDigits: flag(
      'Detects DTMF digits in the audio, for carriers that send neither telephone events nor INFO messages.',
      false,
    ),
    codecs: codecs('Codecs to offer and accept, in order of preference.', ['PCMU', 'PCMA']),
    ptime,
    comfortNoise: flag(
      'Offers comfort noise (RFC 3389). If the carrier offers it, it is always accepted.',
      false,
    ),
    lateOffer: flag(
      "Sends INVITEs without SDP. The carrier then makes the offer; the gateway's answer is in the ACK, " +
        'or in the PRACK for a reliable 183.',
      false,
    ),
    tls: carrierTls,
    register: object('Registration of the gateway at the first target; default none.', {
      expires: duration('Expiry to request; the gateway refreshes the registration before it ends.', '1h'),
    }),
    probe: object('OPTIONS pings to each target; default none. A target that is down is tried last.', {
      interval: duration('Interval of the pings.', '30s'),
      down: integer('Number of successive unanswered pings after which a target is down.', 1, 100, 3),
      up: integer('Number of successive answered pings after which a target is up again.', 1, 100, 1),
    }),
    maxCalls: integer(
      'Maximum number of concurrent calls in both directions; default limits.calls.',
      1,
      1_000_000,
    ),
    callsPerSecond: integer(
      'Maximum number of new calls per second in each direction; default no limit.',
      1,
      100_000,
    ),
  },
  ['name', 'targets'],
)
