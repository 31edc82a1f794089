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
}

/**
 * Reflex of a tap: the media thread lowers the queued speech as soon as it detects the far end's voice, without
 * asking. The owner decides later, by {@link Tap.resume} or {@link Tap.cut}.
 */
export interface ReflexRequest {
  /** Duration of voice after which the speech is lowered, in ms; default 60. */
  readonly voicedMs?: number
  /** Duration of the fade, in ms; default 30. */
  readonly fadeMs?: number
  /** Silence after which the voice has ended, in ms; default 200. */
  readonly silentMs?: number
  /** Whether a delayed and weaker copy of the sent audio is no voice; default true. */
  readonly echoGuard?: boolean
}

/** Event of a tap's far end or speech. */
export type TapEvent =
  /** Voice of the far end began. `isFaded`: the reflex has lowered the speech. `atMs`: as of frames. */
  | { readonly kind: 'voice-began'; readonly atMs: number; readonly isFaded: boolean }
  /** Voice of the far end ended; `atMs` is the end of its last voiced frame. */
  | { readonly kind: 'voice-ended'; readonly atMs: number }
  /** First packet of a spoken item left. */
  | { readonly kind: 'item-began'; readonly item: number; readonly atMs: number }
  /** Everything of an item left, after {@link Tap.finish}. */
  | { readonly kind: 'item-ended'; readonly item: number }

/** Position in an item of speech. */
export interface ItemPosition {
  readonly item: number
  /** Audio of the item that left as RTP, in ms; without what was dropped or faded to silence. */
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
   * speech.
   */
  speak(samples: Int16Array, item?: number): void
  /** Marks an item as complete: its end is reported. */
  finish(item: number): void
  /** Lowers the speech within `fadeMs` (default 30) and keeps the queue. */
  pause(fadeMs?: number): void
  /** Continues with the next word that was not heard, rising within `fadeMs` (default 20). */
  resume(fadeMs?: number): void
  /**
   * Drops the queue, with a fade if it is being heard, and ends a pause. Resolves with the positions of the
   * items that were queued or begun and not ended, in order.
   */
  cut(): Promise<readonly ItemPosition[]>
  /** Sets or removes the reflex and the detection of voice; see {@link TapEvent}. Default none. */
  setReflex(reflex: ReflexRequest | undefined): void
  /** Whether the reflex may fade; default true. Voice is reported in either case. */
  allowFade(isAllowed: boolean): void
  /** Sets the only listener of events. */
  onEvent(listener: (event: TapEvent) => void): void
  /** Drops the queue, for example when the far end interrupts. */
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
