import type { Clock } from '../clock.ts'
import { App } from '../drachtio/app.ts'
import { FrameReader, splitPayload } from '../drachtio/frames.ts'

/** A frame that was sent to the application. */
export interface AppFrame {
  /** The fields from the second on: `sip` or `response` first. */
  readonly fields: readonly string[]
  readonly text: string
}

/** An application without a socket: the frames for the application are passed to `tell`. */
export const recordingApp = (clock: Clock, tell: (frame: AppFrame) => void): App => {
  const reader = new FrameReader()
  const socket = {
    destroyed: false,
    writable: true,
    writableLength: 0,
    write: (bytes: Buffer) => {
      for (const payload of reader.push(bytes)) {
        const { fields, message: text } = splitPayload(payload)
        tell({ fields: fields.slice(1), text: text.toString() })
      }
      return true
    },
    cork: () => {},
    uncork: () => {},
    destroy: () => socket,
    destroySoon: () => {},
  }
  return new App(socket as never, clock, { maxBacklog: 1 << 20, dedicated: false })
}
