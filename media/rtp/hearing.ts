import type { Codecs } from '../codecs/types.ts'
import type { AudioCodec, PcmRate } from '../types.ts'
import type { RtpView } from './packet.ts'
import { Playout } from './playout.ts'
import { FRAMES } from './rate.ts'
import type { Accepted } from './receiver.ts'

/** What the far end says as frames, for as long as anybody wants it. */
export class Hearing {
  /** Rate of {@link said}. */
  rate: PcmRate = 8000
  /** The last 20 ms; undefined: nothing was said, or nobody wants it. */
  said: Int16Array | undefined
  #codecs: Codecs
  #noiseSeed: number
  #playout: Playout | undefined
  #frame = new Int16Array(0)
  /** Of playouts that are closed. */
  #before = { late: 0, bufferMs: 0 }

  /** `noiseSeed` is another number for each far end; see {@link Playout}. */
  constructor(codecs: Codecs, noiseSeed: number) {
    this.#codecs = codecs
    this.#noiseSeed = noiseSeed
  }

  /** Whether {@link receive} and {@link read} are to be called. */
  get open(): boolean {
    return this.#playout !== undefined
  }

  /** Packets that came too late to be heard, and how long the jitter buffer keeps them, or kept them last, in ms; 0 where nothing was decoded. */
  get quality(): { readonly late: number; readonly bufferMs: number } {
    const now = this.#playout?.stats()
    return now ? { late: this.#before.late + now.late, bufferMs: now.delayMs } : this.#before
  }

  /** Sets the rate of {@link said}; with 0 nothing is decoded any more. */
  want(rate: PcmRate | 0): void {
    if (rate === 0) {
      this.close()
      return
    }
    if (this.#playout && rate === this.rate) return
    this.rate = rate
    this.#frame = new Int16Array(rate / FRAMES)
    this.said = undefined
    if (this.#playout) this.#playout.setRate(rate)
    else this.#playout = new Playout({ codecs: this.#codecs, rate, noiseSeed: this.#noiseSeed })
  }

  /** Takes an accepted packet; what it keeps is copied. */
  receive(now: number, kind: Accepted, codec: AudioCodec, view: RtpView, packet: Buffer): void {
    if (kind === 'audio') this.#playout?.receive(now, codec, view, packet)
    else if (kind === 'noise') this.#playout?.receiveNoise(now, view, packet)
    else this.#playout?.skip(now, view)
  }

  /** Makes the next 20 ms. */
  read(now: number): void {
    this.said = this.#playout?.read(now, this.#frame) ? this.#frame : undefined
  }

  close(): void {
    this.#before = this.quality
    this.#playout?.close()
    this.#playout = undefined
    this.said = undefined
  }
}
