import type { PcmRate } from './codec.ts'
import type { MediaPort } from './port.ts'
import type { Recording, RecordRequest } from './recording.ts'
import type { Playback, PlayRequest } from './sound.ts'

/** Options of a port's input in a mixer. */
export interface MixerInputOptions {
  /** Whether the other ports hear this one; default true. */
  readonly canSpeak?: boolean
  /** Whether this port hears the others; default true. */
  readonly canHear?: boolean
  /** Ports that hear this one (whisper); default all. */
  readonly audibleTo?: readonly MediaPort[]
  /** Ports that do not hear this one; default none. */
  readonly inaudibleTo?: readonly MediaPort[]
  /**
   * Whether the port sends a voice; default true. Else, such as for music, its audio is never taken for
   * background noise, and it neither talks nor becomes the active speaker.
   */
  readonly isVoice?: boolean
  /** Volume of this port for the others, in dB; default 0. */
  readonly volumeDb?: number
}

/**
 * Whether a port talks. `talking`: perhaps a short word only. `speaking`: more than that. `pausing`: it
 * talks, but has had no voice for 100 ms, such as between two sentences or at its end.
 */
export type Talk = 'silent' | 'talking' | 'speaking' | 'pausing'

/** Options of a mixer. */
export interface MixerOptions {
  /**
   * Rate of the mix in Hz; default 16,000, which is wideband speech. With 48,000, Opus ports hear each other
   * in full band, and other codecs keep theirs.
   */
  readonly rate?: Extract<PcmRate, 16000 | 48000>
}

/**
 * Mixes the audio of many ports, of any groups: each port hears the sum of all others. Works in frames of 20
 * ms.
 *
 * Ports get packets without pause, also of silence. Far ends with comfort noise get that instead.
 */
export interface Mixer {
  readonly id: string
  /** Number of ports. */
  readonly size: number
  /** Adds a port. The port leaves its partner or its former mixer first. */
  add(port: MediaPort, member?: MixerInputOptions): void
  /** Changes a port's options. No effect on a port that is not in the mixer. */
  change(port: MediaPort, member: MixerInputOptions): void
  remove(port: MediaPort): void
  /** Plays a sound to all ports, in place of a sound that is being played to all. */
  play(request: PlayRequest): Playback
  /** Records the sum of all ports; ignores `tracks`. */
  record(request: RecordRequest): Recording
  /**
   * Calls `listener` with the sum of all ports as Opus (RFC 6716), until the returned function is called. A
   * packet has 20 ms, also of silence. The first one comes after the mixer was used. Packets must not be
   * changed. They are made for a file: 48 kbit/s in the whole band of the mixer's rate, without redundancy.
   *
   * `delayMs`: time since the audio arrived at the gateway, in the speaker's jitter buffer and in the mixer.
   */
  onPacket(listener: (packet: Uint8Array, delayMs: number) => void): () => void
  /**
   * Sets the only listener for the active speaker. The active speaker changes if it is silent while another
   * port speaks, or if another port is louder for half a second. Without speech for 2 s it becomes undefined.
   */
  onSpeaker(listener: (port: MediaPort | undefined) => void): void
  /**
   * Sets the only listener for ports that begin, pause or end to talk. They begin after 200 ms of voice,
   * speak after 440 ms, and end after 700 ms without. Steady noise counts as voice for about a second.
   * Muted and whispering ports do not talk. A port that leaves the mixer while it talks is reported as
   * well.
   */
  onTalking(listener: (port: MediaPort, talk: Talk) => void): void
  /** Resolves when the mixer is closed or its thread has died. */
  readonly closed: Promise<void>
  /** Closes the mixer; the ports stay open. Idempotent. */
  close(): Promise<void>
}
