import type { AudioCodec, Direction, OpusPreferences } from '../../../media/types.ts'
import type { CryptoLine } from './crypto-lines.ts'

/** Codec with its payload type in one description. */
export interface CodecFormat {
  readonly codec: AudioCodec
  readonly payloadType: number
}

/** A codec of the peer, with the parameters of its decoder. */
export interface RemoteCodec extends CodecFormat {
  /** Preferences of the peer's decoder; for Opus only. */
  readonly opus?: OpusPreferences
  /** Minimum duration of packets that the peer accepts, in ms (`minptime`). */
  readonly minPacketMs?: number
}

/** telephone-event (RFC 4733) with one clock rate, in Hz. It is used with codecs of the same clock rate. */
export interface EventFormat {
  readonly payloadType: number
  readonly clockRate: number
}

/** Payload type with its meaning: encoding name in upper case and clock rate, such as `PCMU/8000`. */
export interface Format {
  readonly payloadType: number
  readonly name: string
}

/**
 * Transport of an audio m-line: plain RTP, which is encrypted if both sides give keys (RFC 8643), or SRTP
 * (RFC 3711).
 */
export type Profile = 'RTP/AVP' | 'RTP/SAVP'

/** Parts of an m-line that an answer repeats to reject the m-line (RFC 3264 section 6). */
export interface Section {
  readonly media: string
  readonly protocol: string
  readonly formats: string
}

/** Usable audio m-line of the far side's description. */
export interface RemoteAudio {
  /** Index among all m-lines of the description. */
  readonly index: number
  readonly profile: Profile
  /** Keys of the peer for supported suites, in its order. */
  readonly crypto: readonly CryptoLine[]
  /**
   * IP literal; undefined for `0.0.0.0` and `::`, which mean hold in older equipment (RFC 3264 section 8.4).
   */
  readonly address: string | undefined
  readonly port: number
  /** From `a=rtcp` (RFC 3605); default the port after `port`. */
  readonly rtcpPort?: number
  /** IP literal from `a=rtcp`, as written; default {@link address}. */
  readonly rtcpAddress?: string
  /** Announced sources (`a=ssrc`, RFC 5576), each once; absent without any. */
  readonly ssrcs?: readonly number[]
  /** RTCP uses `port` as well (RFC 5761). */
  readonly rtcpMux?: boolean
  /** Supported codecs of the peer, in its order; never empty. */
  readonly codecs: readonly RemoteCodec[]
  /** All listed formats, including unknown ones: a payload type keeps its meaning for the whole session. */
  readonly formats: readonly Format[]
  readonly telephoneEvents: readonly EventFormat[]
  /** Payload type of CN/8000 (RFC 3389). */
  readonly comfortNoise?: number
  /** Requested and maximum packet duration, in ms; undefined if missing or not sensible. */
  readonly ptime?: number
  readonly maxptime?: number
  /** Direction as seen by the peer. */
  readonly direction: Direction
}

/** A description of the far side. */
export interface RemoteDescription {
  /** Identity and version of the session, from `o=`; undefined if the line is malformed. */
  readonly origin: { readonly session: string; readonly version: string } | undefined
  /** Usable audio m-lines; never empty. */
  readonly audios: readonly [RemoteAudio, ...RemoteAudio[]]
  readonly sections: readonly Section[]
}

/** Local audio of a description. */
export interface LocalAudio {
  readonly profile: Profile
  readonly crypto: readonly CryptoLine[]
  readonly address: string
  readonly port: number
  readonly rtcpPort: number
  readonly rtcpMux: boolean
  readonly codecs: readonly CodecFormat[]
  readonly telephoneEvents: readonly EventFormat[]
  readonly comfortNoise?: number
  /** Requested packet duration, in ms. */
  readonly ptime: number
  readonly direction: Direction
}

/** Returns the local direction for the peer's direction. */
export const mirrored = (theirs: Direction): Direction => {
  if (theirs === 'sendonly') return 'recvonly'
  if (theirs === 'recvonly') return 'sendonly'
  return theirs
}
