import type { AudioCodec, Direction, SrtpSuite } from './codec.ts'
import type { Detection, DetectRequest } from './detect.ts'
import type { Recording, RecordRequest } from './recording.ts'
import type { Playback, PlayRequest } from './sound.ts'
import type { Tap, TapRequest } from './tap.ts'

/** Keys of one SDES negotiation (RFC 4568): master key and salt together, as long as the suite has them. Never to be logged. */
export interface SrtpKeys {
  readonly suite: SrtpSuite
  /** Ours: the one that our SDP announced. */
  readonly sendKey: Uint8Array
  /** The far end's. */
  readonly receiveKey: Uint8Array
}

/**
 * From which source packets are taken: `strict` is the IP address that the SDP named, with any port; `same-ip` also the one that the
 * signalling comes from; `first` whoever sends the first packet that agrees, for far ends that cannot be known beforehand. For three
 * seconds after the first packet one that fits better takes its place: the exact address of the SDP before another port of it, that
 * before the signalling's address, and that before anybody.
 */
export type Symmetric = 'strict' | 'same-ip' | 'first'

/** Receiver preferences of Opus (RFC 7587 section 6.1). */
export interface OpusWishes {
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
  /** Encrypts both directions; absent: plain RTP. Keys that stay the same keep their roll-over counters; a new `sendKey` begins with zero. */
  readonly srtp?: SrtpKeys
  /** Where RTCP goes; default port + 1, or `port` with `rtcpMux`. */
  readonly rtcpPort?: number
  /** Address that RTCP goes to (`a=rtcp`, RFC 3605); default `address`. */
  readonly rtcpAddress?: string
  readonly rtcpMux?: boolean
  readonly codec: AudioCodec
  /** Payload type that the far end expects for `codec`. */
  readonly payloadType: number
  /** Payload type that the far end expects for telephone-event/8000; absent where it takes none. */
  readonly telephoneEvent?: number
  /** Clock rate of `telephoneEvent`, in Hz; default 8000. Beside Opus it is 48000 (RFC 4733 section 2.1). */
  readonly telephoneEventRate?: number
  /** Our direction. */
  readonly direction: Direction
  /**
   * Packet duration in ms that the far end wants, in steps of 10 up to 60, never longer than its `maxptime`: what comes from a joined port
   * in packets of another length is decoded, and packed anew. Absent, and for anything else, such packets are passed on as they come, and
   * what is encoded has 20.
   */
  readonly ptime?: number
  /**
   * From whom the source may be learnt; default `strict`. Whatever it says, the first packet has to agree in payload type, and with SRTP
   * in its tag. Once learnt, only {@link MediaPort.setFar} permits another source; while address and port stay as they were, it has to be
   * the stream (SSRC) heard before, unless that fell silent and the new one's address is the learnt one, or named here.
   */
  readonly symmetric?: Symmetric
  /** Sources that the far end announced (`a=ssrc`, RFC 5576): nobody but its exact address is learnt with another one. Default any. */
  readonly ssrcs?: readonly number[]
  /** IP address of the far side's signalling, which `same-ip` learns from as well. */
  readonly signalledFrom?: string
  /**
   * Further IP addresses from which the source may be learnt, for a far end whose SDP carries a private address although its
   * signalling comes from a public one. Default none: only `address` is learnt from.
   */
  readonly learnFrom?: readonly string[]
  /** Payload type of comfort noise (RFC 3389) where the far end takes it; absent: silence is sent as audio, or not at all. */
  readonly comfortNoise?: number
  /** Listen for digits in the audio itself, for far ends that send neither events nor messages; default false. */
  readonly inbandDigits?: boolean
  /** What the far end said of its Opus decoder (RFC 7587); absent: the codec's defaults. */
  readonly opus?: OpusWishes
}

/** Payload types by which incoming packets are understood; a format may have several. */
export interface NearEnd {
  readonly codecs: readonly { readonly codec: AudioCodec; readonly payloadType: number }[]
  /** telephone-event/8000. */
  readonly telephoneEvent?: number
  /** Further ones: of other clock rates (in Hz), beside codecs with such a clock, or by another number. */
  readonly telephoneEvents?: readonly { readonly payloadType: number; readonly clockRate: number }[]
  /** Comfort noise, where it is not 13 (for codecs with a clock other than 8000); 13 is understood in any case. */
  readonly comfortNoise?: number
}

/** What a port reports. */
export type PortEvent =
  /** A digit `0-9 * # A-D` is complete; once per key press. */
  | {
      readonly kind: 'digit'
      readonly digit: string
      readonly durationMs: number
      /** How it came: as telephone-event, or heard in the audio. */
      readonly by: 'event' | 'audio'
    }
  /** The first accepted packet: the source is learnt (latched). */
  | { readonly kind: 'latched'; readonly address: string; readonly port: number }
  /** No packet since the start, or none since the last one. Repeats after each further period of silence; every setFar starts anew. */
  | { readonly kind: 'timeout'; readonly phase: 'start' | 'media' }

/** Counters of one port. Packets and octets are of RTP. */
export interface PortStats {
  readonly received: number
  readonly sent: number
  readonly octetsReceived: number
  readonly octetsSent: number
  /** Expected minus received (RFC 3550 A.3). */
  readonly lost: number
  /** Interarrival jitter in ms (RFC 3550 A.8). */
  readonly jitterMs: number
  /** Round trip from the far side's receiver reports, in ms; absent until one arrived. */
  readonly roundTripMs?: number
  /** What the far side's last receiver report says of what we sent; absent until one arrived. */
  readonly far?: { readonly lost: number; readonly jitterMs: number }
  /** The far side's RTCP has said goodbye (BYE), and the same source was heard last. It ends no call. */
  readonly farLeft?: boolean
  /** Estimate of what was heard, 1 to 4.5 (ITU-T G.107 from loss, jitter and delay); absent until audio was received. */
  readonly mos?: number
  /** Number of refused packets, by reason; `rate`: audio came several times faster than real time. */
  readonly refused: Readonly<
    Record<'source' | 'malformed' | 'payload-type' | 'ssrc' | 'srtp' | 'rate', number>
  >
}

/** How loud a port's audio is, in dB; 0 leaves it as it is. */
export interface Volumes {
  /** Its far end, for the port that it is joined to, or the mixer. */
  readonly inDb: number
  /** What it is joined to, for its far end. What is played to it is not changed. */
  readonly outDb: number
}

/** An IP family. */
export type IpFamily = 4 | 6

/** One leg's end of the audio: sockets towards its far side, and a place where sound is joined, played and heard. */
export interface MediaPort {
  readonly id: string
  /** A call is a group: its ports share a thread, so that audio goes between them with the least work. */
  readonly group: string
  /** Address for the SDP; of the first family that is bound. */
  readonly address: string
  /** The same for every family. */
  readonly port: number
  readonly rtcpPort: number
  /** Returns the address for the SDP towards a far end of that IP family; undefined if the family is not bound. */
  addressFor(family: IpFamily): string | undefined
  /** SSRC of everything this port sends, from the first packet to the last. */
  readonly ssrc: number
  /**
   * Tells or changes the far end. Each call permits one learning of the source. Addresses are IP literals: throws an Error whose
   * `code` is `bad_far` for anything that cannot be sent to.
   */
  setFar(near: NearEnd, far: FarEnd): void
  /** The codec of the far end; undefined before {@link setFar}. */
  readonly codec: AudioCodec | undefined
  /** Stays for all later joins. Audio that is not left as it is has to be decoded, and comes some 40 ms later. */
  setVolumes(volumes: Volumes): void
  /** Replaces what is being played. A playing sound goes before the joined port's audio. */
  play(request: PlayRequest): Playback
  /** Records it to a file; several at a time are possible. Ends with the port at the latest. */
  record(request: RecordRequest): Recording
  /** Gives its audio out, and takes speech for its far end; several at a time are possible. Ends with the port at the latest. */
  tap(request: TapRequest): Tap
  /** Listens to its far end for a machine, a fax or keys; several at a time are possible. Ends with the port at the latest. */
  detect(request: DetectRequest): Detection
  /**
   * Sends RFC 4733 events; `0-9 * # A-D`, `w` 0.5 s, `W` 1 s. Resolves when all are sent; false where the far end
   * takes none or the direction forbids it. Rejects with `code` `bad_digits` for any other character.
   */
  sendDigits(digits: string): Promise<boolean>
  /** The one listener; a leg owns its port. */
  onEvent(listener: (event: PortEvent) => void): void
  stats(): Promise<PortStats>
  /** Idempotent; parts the port from its partner first. The last statistics come back. */
  close(): Promise<PortStats>
}
