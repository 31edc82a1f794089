import type { MessagePort } from 'node:worker_threads'
import type { FrameChannel } from '../rtp/frame-channel.ts'
import { RateAdapter } from '../rtp/rate-adapter.ts'
import type { PcmRate } from '../types.ts'

/**
 * Number of frames that must be waiting after a silence before one is read. The two threads process frames at
 * different moments of the same 20 ms.
 */
const leadFrames = 2
/** Maximum number of waiting frames; above it the oldest are dropped to limit the delay. */
const maxFrames = 5

/** Properties of a {@link FrameLink}, equal at both ends. */
export type LinkOptions = Pick<FrameChannel, 'rate' | 'isContinuous'>

/** One end of a frame channel between two threads. Silence is not sent. */
export class FrameLink implements FrameChannel {
  readonly rate: PcmRate
  readonly isContinuous: boolean
  #port: MessagePort
  #adapter = new RateAdapter()
  #queue: Int16Array[] = []
  #isFlowing = false
  #isClosed = false

  /** `onClosed` is called once when the other end is closed or its thread dies; not after {@link close}. */
  constructor(port: MessagePort, { rate, isContinuous }: LinkOptions, onClosed: () => void) {
    this.rate = rate
    this.isContinuous = isContinuous
    this.#port = port
    port.on('message', (frame: Int16Array) => {
      this.#queue.push(frame)
      if (this.#queue.length > maxFrames) this.#queue.splice(0, this.#queue.length - leadFrames)
    })
    port.on('close', () => {
      if (this.#isClosed) return
      this.#isClosed = true
      onClosed()
    })
  }

  write(frame: Int16Array | undefined, rate: PcmRate): void {
    if (this.#isClosed) return
    const converted = this.#adapter.convert(frame, rate, this.rate)
    if (!converted) return
    const copy = converted.slice()
    this.#port.postMessage(copy, [copy.buffer])
  }

  read(): Int16Array | undefined {
    if (!this.#isFlowing && this.#queue.length < leadFrames) return undefined
    const frame = this.#queue.shift()
    this.#isFlowing = frame !== undefined
    return frame
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue = []
    this.#port.close()
  }
}
