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
  speak(samples: Int16Array): void
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
