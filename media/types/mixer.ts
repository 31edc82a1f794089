import type { MediaPort } from './port.ts'
import type { Recording, RecordRequest } from './recording.ts'
import type { Playback, PlayRequest } from './sound.ts'

/** What a port does in a mixer. */
export interface MixerMember {
  /** The others hear it; default true. */
  readonly talks?: boolean
  /** It hears the others; default true. */
  readonly hears?: boolean
  /** Only these ports hear it (whisper); default all. */
  readonly onlyFor?: readonly MediaPort[]
  /** Of what it says to the others, in dB; default 0. */
  readonly volumeDb?: number
}

/**
 * Audio of many ports, of any groups: each hears the sum of all others. It runs by a clock of 20 ms, at 16 kHz.
 */
export interface Mixer {
  readonly id: string
  /** Ports that take part. */
  readonly size: number
  /** Takes a port in; it leaves its partner or its former mixer. */
  add(port: MediaPort, member?: MixerMember): void
  /** Changes what a port does; nothing for one that does not take part. */
  change(port: MediaPort, member: MixerMember): void
  remove(port: MediaPort): void
  /** Heard by all that take part, in place of what was played to all before. */
  play(request: PlayRequest): Playback
  /** Records the sum of all; `tracks` is not looked at. */
  record(request: RecordRequest): Recording
  /**
   * The one listener for who speaks: the same until it is silent, or another one is louder for half a second; undefined when nobody has spoken
   * for 2 s.
   */
  onSpeaker(listener: (port: MediaPort | undefined) => void): void
  /** Resolves when it is closed, or its thread has died. */
  readonly closed: Promise<void>
  /** Idempotent. The ports stay open. */
  close(): Promise<void>
}
