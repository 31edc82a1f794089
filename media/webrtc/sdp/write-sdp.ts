import type { Direction } from '../../types.ts'
import type { Candidate } from '../listen-addresses.ts'
import {
  type Fingerprint,
  type Format,
  midUri,
  type RefusedSection,
  type Setup,
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
 * Writes a local description without a BUNDLE group: each m-line has its own transport, which RFC 8843
 * section 7.3 permits an answerer. With bundling, a browser's later m-line would have no candidates.
 */
export const writeSdp = (origin: Origin, sections: readonly (LocalSection | RefusedSection)[]): string =>
  [
    'v=0',
    `o=- ${origin.id} ${origin.version} IN IP4 127.0.0.1`,
    's=-',
    't=0 0',
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
  return [
    `m=${section.kind} ${first?.port ?? 9} ${section.protocol} ${section.formats.map((f) => f.payloadType).join(' ')}`,
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
    ...section.formats.flatMap(formatLines),
    ...(section.kind === 'audio' ? ['a=ptime:20'] : []),
    ...streamLines(section),
  ]
}

const candidateLine = (c: Candidate): string =>
  `a=candidate:${c.foundation} 1 ${c.protocol} ${c.priority} ${c.address} ${c.port} typ host${c.protocol === 'tcp' ? ' tcptype passive' : ''}`

const extensionLine = (id: number | undefined, uri: string): string[] =>
  id === undefined ? [] : [`a=extmap:${id} ${uri}`]

const formatLines = (format: Format): string[] => [
  `a=rtpmap:${format.payloadType} ${format.name}/${format.clockRate}${format.channels ? `/${format.channels}` : ''}`,
  ...(format.parameters === '' ? [] : [`a=fmtp:${format.payloadType} ${format.parameters}`]),
  ...(format.feedback ?? []).map((feedback) => `a=rtcp-fb:${format.payloadType} ${feedback}`),
]

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
