import type { AudioCodec, Direction } from '../../../media/types.ts'

/** A codec with the payload type that it has in one description. */
export interface CodecFormat {
  readonly codec: AudioCodec
  readonly payloadType: number
}

/** An m-line as it has to be repeated where it is refused (RFC 3264 section 6). */
export interface Section {
  readonly media: string
  readonly protocol: string
  readonly formats: string
}

/** The audio of the far side's description. */
export interface RemoteAudio {
  /** IP literal; undefined for `0.0.0.0` and `::`, the old way of hold (RFC 3264 section 8.4). */
  readonly address: string | undefined
  readonly port: number
  /** From `a=rtcp` (RFC 3605); default the port after `port`. */
  readonly rtcpPort?: number
  /** Ours among the far side's codecs, in its order; never empty. */
  readonly codecs: readonly CodecFormat[]
  /** Payload type of telephone-event/8000. */
  readonly telephoneEvent?: number
  /** Milliseconds; undefined where none, or no sensible one, is given. */
  readonly ptime?: number
  /** Direction as the far side sees it. */
  readonly direction: Direction
}

/** A description of the far side. */
export interface RemoteDescription {
  readonly audio: RemoteAudio
  /** Place of the audio among {@link sections}. */
  readonly index: number
  readonly sections: readonly Section[]
}

/** What we say of our audio. */
export interface LocalAudio {
  readonly address: string
  readonly port: number
  readonly rtcpPort: number
  readonly codecs: readonly CodecFormat[]
  readonly telephoneEvent?: number
  readonly direction: Direction
}

/** Our direction for a direction of theirs. */
export const mirrored = (theirs: Direction): Direction => {
  if (theirs === 'sendonly') return 'recvonly'
  if (theirs === 'recvonly') return 'sendonly'
  return theirs
}
