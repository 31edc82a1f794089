import type { PcmRate } from './codec.ts'
import type { MediaPort } from './port.ts'

/** What to listen to. */
export interface TapRequest {
  /** `in` is what the far end says, `out` what it hears; `both` tells them apart in {@link TapFrame.track}. */
  readonly tracks: 'in' | 'out' | 'both'
  readonly sampleRate: PcmRate
}

/** 20 ms of one track. */
export interface TapFrame {
  readonly track: 'in' | 'out'
  /** Milliseconds of audio since the tap was opened; gaps are filled with silence, so it goes on by 20. */
  readonly atMs: number
  /** The receiver's own: it is not used again. */
  readonly samples: Int16Array
}

/** One port's audio, given to somebody outside of the edge, who may speak to the far end in turn. */
export interface Tap {
  /** The one listener. Frames that nobody takes are dropped. */
  onFrame(listener: (frame: TapFrame) => void): void
  /**
   * Lets the far end hear `samples`, at the tap's rate, any number of them: they are queued, up to 120 s, and the rest is dropped. What is
   * queued goes before the joined port's audio, and after a prompt.
   */
  speak(samples: Int16Array): void
  /** Drops what is queued (the far end interrupts). */
  clear(): void
  /** Resolves when everything that was queued so far has been sent, or was dropped; for marks. */
  spoken(): Promise<void>
  /** Called once when the port is closed, or its thread died. */
  onClosed(listener: () => void): void
  /** Listens and speaks to that port from now on, with what is queued; otherwise as a recording does. */
  moveTo(port: MediaPort): void
  /** Idempotent. */
  close(): void
}
