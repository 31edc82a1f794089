import type { Direction } from '../../types.ts'
import type { Candidate } from '../listen-addresses.ts'
import {
  type Fingerprint,
  type Format,
  midUri,
  type RefusedSection,
  ridUri,
  type Setup,
  type Simulcast,
  transportUri,
} from './session-description.ts'

/** Origin of local descriptions (RFC 8866 section 5.2): constant id, version increased by one with each. */
export interface Origin {
  readonly id: number
  readonly version: number
}

/** Local side of one m-line. */
export interface LocalSection {
  readonly kind: 'audio' | 'video'
  readonly mid: string
  readonly protocol: string
  readonly formats: readonly Format[]
  readonly direction: Direction
  readonly ufrag: string
  readonly password: string
  readonly fingerprint: Fingerprint
  readonly setup: Setup
  readonly candidates: readonly Candidate[]
  /** Id of the header extension that carries the mid; absent if unused. */
  readonly midExtension?: number
  /** Id of the header extension of `transport-cc`; absent if unused. */
  readonly transportExtension?: number
  /** Encodings that the browser may send at once; absent for one. */
  readonly simulcast?: Simulcast
  /** Sent stream; absent if nothing is ever sent. */
  readonly stream?: Stream
}

/** Sent stream in a description. Without `source` the SSRC is arbitrary and may change. */
export interface Stream {
  readonly track: string
  readonly source?: { readonly ssrc: number; readonly cname: string }
}

/** Media stream that all tracks of a session belong to, so that the browser synchronises them. */
const streamName = 'trunkline'

/**
 * Writes a local description, by default without a BUNDLE group: each m-line has its own transport, which RFC
 * 8843 section 7.3 permits an answerer. With bundling, a browser's later m-line would have no candidates.
 * `isBundled`: all m-lines share one transport. For an offer that is never followed by another one.
 */
export const writeSdp = (
  origin: Origin,
  sections: readonly (LocalSection | RefusedSection)[],
  isBundled = false,
): string =>
  [
    'v=0',
    `o=- ${origin.id} ${origin.version} IN IP4 127.0.0.1`,
    's=-',
    't=0 0',
    ...(isBundled ? [`a=group:BUNDLE ${sections.map(({ mid }) => mid).join(' ')}`] : []),
    'a=ice-lite',
    `a=msid-semantic: WMS ${streamName}`,
    ...sections.flatMap((section) => (section.kind === 'refused' ? refused(section) : used(section))),
    '',
  ].join('\r\n')

const refused = (section: RefusedSection): string[] => [
  `m=${section.media} 0 ${section.protocol} ${section.formats}`,
  'c=IN IP4 0.0.0.0',
  'a=inactive',
  ...(section.mid === undefined ? [] : [`a=mid:${section.mid}`]),
]

const used = (section: LocalSection): string[] => {
  const first = section.candidates[0]
  const family = first?.address.includes(':') ? 'IP6' : 'IP4'
  const payloadTypes = section.formats.map((format) => format.payloadType).join(' ')
  return [
    `m=${section.kind} ${first?.port ?? 9} ${section.protocol} ${payloadTypes}`,
    `c=IN ${family} ${first?.address ?? '0.0.0.0'}`,
    `a=mid:${section.mid}`,
    `a=${section.direction}`,
    'a=rtcp-mux',
    'a=rtcp-rsize',
    `a=ice-ufrag:${section.ufrag}`,
    `a=ice-pwd:${section.password}`,
    `a=fingerprint:${section.fingerprint.algorithm} ${section.fingerprint.value}`,
    `a=setup:${section.setup}`,
    ...section.candidates.map(candidateLine),
    'a=end-of-candidates',
    ...extensionLine(section.midExtension, midUri),
    ...extensionLine(section.transportExtension, transportUri),
    ...extensionLine(section.simulcast?.ridExtension, ridUri),
    ...section.formats.flatMap(formatLines),
    ...(section.kind === 'audio' ? ['a=ptime:20'] : []),
    ...simulcastLines(section.simulcast),
    ...streamLines(section),
  ]
}

const candidateLine = ({ foundation, protocol, priority, address, port }: Candidate): string => {
  const tcpType = protocol === 'tcp' ? ' tcptype passive' : ''
  return `a=candidate:${foundation} 1 ${protocol} ${priority} ${address} ${port} typ host${tcpType}`
}

const extensionLine = (id: number | undefined, uri: string): string[] =>
  id === undefined ? [] : [`a=extmap:${id} ${uri}`]

const formatLines = ({
  payloadType,
  name,
  clockRate,
  channels,
  parameters,
  feedback = [],
}: Format): string[] => [
  `a=rtpmap:${payloadType} ${name}/${clockRate}${channels ? `/${channels}` : ''}`,
  ...(parameters === '' ? [] : [`a=fmtp:${payloadType} ${parameters}`]),
  ...feedback.map((each) => `a=rtcp-fb:${payloadType} ${each}`),
]

const simulcastLines = (simulcast: Simulcast | undefined): string[] =>
  simulcast
    ? [...simulcast.rids.map((rid) => `a=rid:${rid} recv`), `a=simulcast:recv ${simulcast.rids.join(';')}`]
    : []

const streamLines = (section: LocalSection): string[] => {
  const { stream } = section
  const silent = section.direction === 'inactive' || section.direction === 'recvonly'
  if (!stream || silent) return []
  const { track, source } = stream
  return [
    `a=msid:${streamName} ${track}`,
    ...(source
      ? [`a=ssrc:${source.ssrc} cname:${source.cname}`, `a=ssrc:${source.ssrc} msid:${streamName} ${track}`]
      : []),
  ]
}
