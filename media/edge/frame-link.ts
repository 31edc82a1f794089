import type { MessagePort } from 'node:worker_threads'
import { mixRate } from '../mix/mixer-input.ts'
import type { FrameChannel } from '../rtp/frame-channel.ts'
import type { PcmRate } from '../types.ts'

/**
 * Number of frames that must be waiting after a silence before one is read. The two threads process frames at
 * different moments of the same 20 ms.
 */
const leadFrames = 2
/** Maximum number of waiting frames; above it the oldest are dropped to limit the delay. */
const maxFrames = 5

/** One end of a frame channel between two threads. Silence is not sent. */
export class FrameLink implements FrameChannel {
  readonly rate: PcmRate = mixRate
  #port: MessagePort
  #queue: Int16Array[] = []
  #isFlowing = false
  #isClosed = false

  /** `onClosed` is called once when the other end is closed or its thread dies; not after {@link close}. */
  constructor(port: MessagePort, onClosed: () => void) {
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

  write(frame: Int16Array | undefined): void {
    if (!frame || this.#isClosed) return
    const copy = frame.slice()
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
