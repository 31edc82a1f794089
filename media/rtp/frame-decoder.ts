import type { Codecs } from '../codecs/types.ts'
import type { AudioCodec, PcmRate } from '../types.ts'
import { promptManner } from './delay-estimate.ts'
import type { RtpView } from './packet.ts'
import { Playout, type PlayoutOptions } from './playout.ts'
import { framesPerSecond } from './rate-adapter.ts'
import type { Accepted } from './receiver.ts'

/** Delay of a {@link FrameDecoder} for machines: at least 4 ms, so that a packet may be a little late. */
export const promptDelay = { minDelayMs: 4, manner: promptManner } as const

/** Decodes the far end's packets to frames while any consumer needs them. */
export class FrameDecoder {
  /** Rate of {@link frame}. */
  rate: PcmRate = 8000
  /** The last 20 ms; undefined for silence, or while closed. */
  frame: Int16Array | undefined
  #codecs: Codecs
  #noiseSeed: number
  #delay: Pick<PlayoutOptions, 'minDelayMs' | 'manner'>
  #playout: Playout | undefined
  #frame = new Int16Array(0)
  /** Statistics of closed playouts. */
  #before = { late: 0, bufferMs: 0 }

  /** `noiseSeed` must be different for each far end; see {@link Playout}. `delay`: default even playout. */
  constructor(codecs: Codecs, noiseSeed: number, delay: Pick<PlayoutOptions, 'minDelayMs' | 'manner'> = {}) {
    this.#delay = delay
    this.#codecs = codecs
    this.#noiseSeed = noiseSeed
  }

  /** Whether {@link receive} and {@link read} must be called. */
  get isOpen(): boolean {
    return this.#playout !== undefined
  }

  /**
   * Number of packets that arrived too late, and current or last delay of the jitter buffer in ms; 0 before
   * anything was decoded.
   */
  get quality(): { readonly late: number; readonly bufferMs: number } {
    const now = this.#playout?.stats()
    return now ? { late: this.#before.late + now.late, bufferMs: now.delayMs } : this.#before
  }

  /** Age of {@link frame}, see {@link Playout.ageMs}; 0 while closed. */
  get ageMs(): number {
    return this.#playout?.ageMs ?? 0
  }

  /** Sets the rate of {@link frame}; 0 stops decoding. */
  setRate(rate: PcmRate | 0): void {
    if (rate === 0) {
      this.close()
      return
    }
    if (this.#playout && rate === this.rate) return
    this.rate = rate
    this.#frame = new Int16Array(rate / framesPerSecond)
    this.frame = undefined
    if (this.#playout) this.#playout.setRate(rate)
    else
      this.#playout = new Playout({ codecs: this.#codecs, rate, noiseSeed: this.#noiseSeed, ...this.#delay })
  }

  /** Processes an accepted packet; copies what it keeps. */
  receive(now: number, kind: Accepted, codec: AudioCodec, view: RtpView, packet: Buffer): void {
    if (kind === 'audio') this.#playout?.receive(now, codec, view, packet)
    else if (kind === 'noise') this.#playout?.receiveNoise(now, view, packet)
    else this.#playout?.skip(now, view)
  }

  /** Decodes the next 20 ms. */
  read(now: number): void {
    this.frame = this.#playout?.read(now, this.#frame) ? this.#frame : undefined
  }

  close(): void {
    this.#before = this.quality
    this.#playout?.close()
    this.#playout = undefined
    this.frame = undefined
  }
}
