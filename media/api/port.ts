import type { AudioCodec, Direction, SrtpSuite } from './codec.ts'
import type { Detection, DetectRequest } from './detect.ts'
import type { Recording, RecordRequest } from './recording.ts'
import type { Playback, PlayRequest } from './sound.ts'
import type { Tap, TapRequest } from './tap.ts'

/**
 * Keys of one SDES negotiation (RFC 4568): master key and salt concatenated, in the lengths of the suite.
 * Must never be logged.
 */
export interface SrtpKeys {
  readonly suite: SrtpSuite
  /** The local key, as announced in the local SDP. */
  readonly sendKey: Uint8Array
  /** The far end's key. */
  readonly receiveKey: Uint8Array
}

/**
 * Sources from which packets are accepted. `strict`: the IP address of the SDP, with any port. `same-ip`:
 * also the address that the signalling comes from. `first`: the sender of the first matching packet, for far
 * ends with unpredictable addresses.
 *
 * For three seconds after the first packet, a source that matches better replaces the learnt one. Best to
 * worst match: exact SDP address and port, other port of the SDP address, signalling address, any other.
 */
export type Symmetric = 'strict' | 'same-ip' | 'first'

/** Receiver preferences of Opus (RFC 7587 section 6.1). */
export interface OpusPreferences {
  /** `useinbandfec=1`. */
  readonly fec?: boolean
  /** `usedtx=1`. */
  readonly dtx?: boolean
  /** `maxaveragebitrate` in bits per second. */
  readonly bitrate?: number
  /** `maxplaybackrate` in Hz. */
  readonly maxPlaybackRate?: number
  /** `cbr=1`. */
  readonly cbr?: boolean
}

/** The far end of a port, as its SDP described it. */
export interface FarEnd {
  readonly address: string
  readonly port: number
  /**
   * Keys that encrypt both directions; absent: plain RTP. Unchanged keys keep their roll-over counters; a new
   * `sendKey` starts at zero.
   */
  readonly srtp?: SrtpKeys
  /** Port for RTCP; default port + 1, or `port` with `rtcpMux`. */
  readonly rtcpPort?: number
  /** IP address for RTCP (`a=rtcp`, RFC 3605); default `address`. */
  readonly rtcpAddress?: string
  readonly rtcpMux?: boolean
  readonly codec: AudioCodec
  /** Payload type of `codec` at the far end. */
  readonly payloadType: number
  /** Payload type of telephone-event at the far end; absent if not supported. */
  readonly telephoneEvent?: number
  /** Clock rate of `telephoneEvent`, in Hz; default 8000. Beside Opus it is 48000 (RFC 4733 section 2.1). */
  readonly telephoneEventRate?: number
  /** Direction, seen from the gateway. */
  readonly direction: Direction
  /**
   * Packet duration in ms that the far end wants: a multiple of 10, at most 60 and at most its `maxptime`.
   * Joined audio in packets of another length is decoded and packed anew. If absent or any other value,
   * joined packets pass unchanged, and audio that is encoded here gets packets of 20 ms.
   */
  readonly ptime?: number
  /**
   * Rule for learning the source; default `strict`. The first packet must have an announced payload type and,
   * with SRTP, a valid authentication tag. After that only {@link MediaPort.setFar} permits another source.
   * If `setFar` repeats the same address and port, a new source must continue the stream (SSRC) received
   * before, with one exception. After that stream fell silent, a new stream is accepted from the learnt or a
   * named address.
   */
  readonly symmetric?: Symmetric
  /**
   * SSRCs that the far end announced (`a=ssrc`, RFC 5576). Streams with another SSRC are only learnt from the
   * exact SDP address. Default any.
   */
  readonly ssrcs?: readonly number[]
  /** IP address of the far side's signalling, a further source for `same-ip`. */
  readonly signalledFrom?: string
  /**
   * Further IP addresses to learn the source from, for a far end with a private address in its SDP and public
   * signalling. Default none.
   */
  readonly learnFrom?: readonly string[]
  /**
   * Payload type of comfort noise (RFC 3389) at the far end; absent: silence is sent as audio, or not at all.
   */
  readonly comfortNoise?: number
  /**
   * Whether to detect DTMF tones in the audio, for far ends that send neither events nor messages; default
   * false.
   */
  readonly inbandDigits?: boolean
  /** Opus decoder preferences of the far end (RFC 7587); absent: the codec's defaults. */
  readonly opus?: OpusPreferences
}

/** Payload types of incoming packets; a format may have several. */
export interface NearEnd {
  readonly codecs: readonly { readonly codec: AudioCodec; readonly payloadType: number }[]
  /** Payload type of telephone-event/8000. */
  readonly telephoneEvent?: number
  /** Further telephone-event payload types, with their clock rates in Hz. */
  readonly telephoneEvents?: readonly { readonly payloadType: number; readonly clockRate: number }[]
  /**
   * Payload type of comfort noise in addition to 13, which is always accepted (for codecs with a clock other
   * than 8000).
   */
  readonly comfortNoise?: number
}

/** Event of a port. */
export type PortEvent =
  /** A digit `0-9 * # A-D` was received; reported once per key press. */
  | {
      readonly kind: 'digit'
      readonly digit: string
      readonly durationMs: number
      /** Source of the digit: a telephone-event, or a tone in the audio. */
      readonly by: 'event' | 'audio'
    }
  /** The first packet was accepted and the source is learnt (latched). */
  | { readonly kind: 'latched'; readonly address: string; readonly port: number }
  /**
   * A timeout expired: no packet since the start, or since the last packet. Repeats after each further period
   * of silence; every `setFar` restarts the period.
   */
  | { readonly kind: 'timeout'; readonly phase: 'start' | 'media' }

/** Counters of one port. Packets and octets count RTP only. */
export interface PortStats {
  readonly received: number
  readonly sent: number
  readonly octetsReceived: number
  readonly octetsSent: number
  /** Expected minus received packets (RFC 3550 A.3). */
  readonly lost: number
  /** Interarrival jitter in ms (RFC 3550 A.8). */
  readonly jitterMs: number
  /** Round trip from the far side's receiver reports, in ms; absent before the first report. */
  readonly roundTripMs?: number
  /**
   * Loss and jitter of the sent stream, from the far side's last receiver report; absent before the first
   * report.
   */
  readonly far?: { readonly lost: number; readonly jitterMs: number }
  /** Whether the far side sent an RTCP BYE for the source heard last. A BYE ends no call. */
  readonly farLeft?: boolean
  /**
   * Estimated quality of the received audio, 1 to 4.5 (ITU-T G.107 from loss, jitter and delay); absent
   * before audio was received.
   */
  readonly mos?: number
  /** Number of rejected packets, by reason; `rate`: several times faster than real time. */
  readonly refused: Readonly<
    Record<'source' | 'malformed' | 'payload-type' | 'ssrc' | 'srtp' | 'rate', number>
  >
}

/** Volumes of a port's audio, in dB; 0 means unchanged. */
export interface Volumes {
  /** Volume of the far end's audio, for the joined port or the mixer. */
  readonly inDb: number
  /** Volume of the joined audio, for the far end. Played sounds are not affected. */
  readonly outDb: number
}

/** An IP family. */
export type IpFamily = 4 | 6

/**
 * Media end of one leg: its sockets towards the far end, and the methods that join, play, record and detect
 * audio.
 */
export interface MediaPort {
  readonly id: string
  /**
   * Group of the port, usually one per call. Ports of a group share a thread, which makes joining them cheap.
   */
  readonly group: string
  /** Address for the SDP, of the first bound IP family. */
  readonly address: string
  /** Local RTP port, the same for every IP family. */
  readonly port: number
  readonly rtcpPort: number
  /** Returns the SDP address towards a far end of that IP family; undefined if the family is not bound. */
  addressFor(family: IpFamily): string | undefined
  /** SSRC of all sent packets, for the lifetime of the port. */
  readonly ssrc: number
  /**
   * Sets or changes the far end. Each call permits one learning of the source. Addresses are IP literals.
   * Throws an Error of `code` `bad_far` for an address that cannot be sent to.
   */
  setFar(near: NearEnd, far: FarEnd): void
  /** Codec of the far end; undefined before {@link setFar}. */
  readonly codec: AudioCodec | undefined
  /**
   * Sets the volumes, for all later joins too. A volume other than 0 dB requires decoding, which delays the
   * audio by about 40 ms.
   */
  setVolumes(volumes: Volumes): void
  /**
   * Plays a sound, replacing the current one. A played sound takes precedence over the joined port's audio.
   */
  play(request: PlayRequest): Playback
  /** Records the port to a file. Several recordings may run at once. Ends with the port at the latest. */
  record(request: RecordRequest): Recording
  /**
   * Delivers the port's audio in frames, and accepts speech for the far end. Several taps may be open at
   * once. Ends with the port at the latest.
   */
  tap(request: TapRequest): Tap
  /**
   * Detects a machine, a fax or DTMF digits in the far end's audio. Several detections may run at once. Ends
   * with the port at the latest.
   */
  detect(request: DetectRequest): Detection
  /**
   * Sends RFC 4733 events; `0-9 * # A-D`, `w` for a pause of 0.5 s, `W` for 1 s. Resolves to true when all
   * are sent; to false if the far end or the direction does not permit events. Rejects with `code`
   * `bad_digits` for any other character.
   */
  sendDigits(digits: string): Promise<boolean>
  /** Sets the only listener. */
  onEvent(listener: (event: PortEvent) => void): void
  stats(): Promise<PortStats>
  /** Closes the port and disconnects its partner. Resolves with the last statistics. Idempotent. */
  close(): Promise<PortStats>
}
