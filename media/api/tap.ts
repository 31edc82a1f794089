import type { PcmRate } from './codec.ts'
import type { MediaPort } from './port.ts'

/** Options of a tap. */
export interface TapRequest {
  /**
   * `in`: the far end's audio. `out`: the audio sent to the far end. `both`: both as separate tracks ({@link
   * TapFrame.track}).
   */
  readonly tracks: 'in' | 'out' | 'both'
  readonly sampleRate: PcmRate
  /**
   * Whether the far end gets packets of silence while nothing else is sent and the port is not joined;
   * default false. Some carriers end a call without packets. Negotiated comfort noise replaces them.
   */
  readonly isContinuous?: boolean
  /**
   * Whether frames of the far end come with the least delay, at the cost of more concealed packets from an
   * uneven path; default false. Recordings and other listeners of the port hear the even audio.
   */
  readonly isPrompt?: boolean
  /** Gain of all speech of the tap, in dB; default 0. Levels out of range are clipped. */
  readonly speechDb?: number
}

/** Sound under what a tap says; see {@link Tap.background}. */
export interface BackgroundSound {
  /** Samples, which must not be changed afterwards. Empty ones are silence. */
  readonly samples: Int16Array
  readonly sampleRate: PcmRate
  readonly volumeDb: number
  /** Number of passes; default 0, endless. */
  readonly loops?: number
}

/**
 * Reflex of a tap: the media thread lowers the queued speech as soon as it detects the far end's voice,
 * without asking. The owner decides later, by {@link Tap.resume} or {@link Tap.cut}. It needs the track `in`.
 *
 * Clicks shorter than `voicedMs` and tones of DTMF are no voice, and steady noise is none after a second. A
 * voice lowers speech once, so that a resume during the voice remains. Speech that begins, or may be lowered,
 * only during a voice is lowered if three times `voicedMs` of voice follow.
 */
export interface ReflexRequest {
  /** Duration of voice after which the speech is lowered, in ms; default 60, in steps of 20. */
  readonly voicedMs?: number
  /** Duration of the fade, in ms; default 30, from 5 to 1000. */
  readonly fadeMs?: number
  /** Silence after which the voice has ended, in ms; default 200, in steps of 20. */
  readonly silentMs?: number
  /**
   * Whether a delayed and weaker copy of the sent audio is no voice; default true. At first, audio of 18 dB
   * below the loudest of the last 500 ms counts as a copy. The thread learns the level of the copies, so that
   * a quieter caller is detected, too, after one or two seconds of speech.
   */
  readonly echoGuard?: boolean
}

/** Event of a tap's far end or speech. */
export type TapEvent =
  /**
   * Voice of the far end began at `atMs`, as of frames. `isFaded`: the reflex has lowered the speech.
   * Reported once more for the same voice if the reflex lowers speech later.
   */
  | { readonly kind: 'voice-began'; readonly atMs: number; readonly isFaded: boolean }
  /** Voice of the far end ended; `atMs` is the end of its last voiced frame. */
  | { readonly kind: 'voice-ended'; readonly atMs: number }
  /** First audio of an item left in the frame of `atMs`. */
  | { readonly kind: 'item-began'; readonly item: number; readonly atMs: number }
  /** Everything of an item left, and {@link Tap.finish} was called. Not reported for dropped items. */
  | { readonly kind: 'item-ended'; readonly item: number }

/** Position in an item of speech. */
export interface ItemPosition {
  readonly item: number
  /**
   * Audio of the item that left as RTP, in ms. A sample counts at half of its amplitude (-6 dB) or more;
   * dropped samples, and those during a hold, do not.
   */
  readonly heardMs: number
}

/** 20 ms of one track. */
export interface TapFrame {
  readonly track: 'in' | 'out'
  /** Position in ms since the tap was opened, in steps of 20. Gaps are filled with silence. */
  readonly atMs: number
  /** Samples; the receiver owns the array, which is not reused. */
  readonly samples: Int16Array
}

/** Access to one port's audio from outside the edge: delivers frames, and accepts speech for the far end. */
export interface Tap {
  /** Sets the only listener. Frames without a listener are dropped. */
  onFrame(listener: (frame: TapFrame) => void): void
  /**
   * Queues `samples` for the far end: any number, at the tap's rate. The queue holds 120 s; samples beyond
   * that are dropped. Queued speech takes precedence over joined audio; a prompt takes precedence over queued
   * speech. Speech starts with the next frame if 60 ms are queued, else up to 40 ms later.
   *
   * `item`: any number that identifies the speech in events and positions; default none of both.
   */
  speak(samples: Int16Array, item?: number): void
  /** Marks an item as complete: its end is reported, at once if none of it is waiting. */
  finish(item: number): void
  /**
   * Lowers the speech to silence within `fadeMs` (default 30, from 5 to 1000) and keeps the queue. Speech
   * queued during the pause waits, too.
   */
  pause(fadeMs?: number): void
  /**
   * Continues with the first sample that was not heard, rising within `fadeMs` (default 20, from 5 to 1000).
   * The rise begins before that sample and is at half of the amplitude there. No effect without a pause.
   */
  resume(fadeMs?: number): void
  /**
   * Drops the queue, with a fade of one frame (20 ms) if it is being heard, and ends a pause. Resolves with
   * the positions of the items that were queued or begun and not ended, in order; the fade is included.
   * Resolves with none if the tap is or becomes closed.
   */
  cut(): Promise<readonly ItemPosition[]>
  /** Sets or removes the reflex and the detection of voice; see {@link TapEvent}. Default none. */
  setReflex(reflex: ReflexRequest | undefined): void
  /** Whether the reflex may fade; default true. Voice is reported in either case. */
  allowFade(isAllowed: boolean): void
  /** Sets the only listener of events. */
  onEvent(listener: (event: TapEvent) => void): void
  /**
   * Begins a sound under the speech and the silence of the tap, in place of the present one; undefined ends
   * that one. It rises and falls within 20 ms. While a prompt plays, and while only joined audio is heard, it
   * waits. It belongs to no item, and the reflex does not lower it. {@link moveTo} keeps it.
   */
  background(sound: BackgroundSound | undefined): void
  /** Drops the queue at once and forgets its items, without ending a pause. */
  clear(): void
  /** Resolves when everything queued so far has been sent or dropped. */
  spoken(): Promise<void>
  /** Sets the listener for the end: the port was closed, or its thread died. Called once. */
  onClosed(listener: () => void): void
  /** Continues with another port, including the queue, under the conditions of {@link Recording.moveTo}. */
  moveTo(port: MediaPort): void
  /** Closes the tap. Idempotent. */
  close(): void
}
