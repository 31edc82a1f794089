/** Delays of pictures from a simulated camera to a simulated viewer. */
import { FrameAssembler } from '../../media/compose/frame-assembler.ts'
import type { PicturesAddon } from '../../media/compose/pictures.ts'
import { readRtp, rtpView } from '../../media/rtp/packet.ts'
import { MarkReader, markCount, type Rectangle } from './marks.ts'

/** A frame of a stream as it arrived. Times in ms. */
interface ArrivedFrame {
  /** Time of the last packet. */
  readonly at: number
  readonly timestamp: number
  readonly data: Buffer
}

/** Keeps the frames of a stream, to look at them after the measurement. */
export class FrameLog {
  readonly frames: ArrivedFrame[] = []
  readonly #view = rtpView()
  #assembler: FrameAssembler | undefined

  /** Processes an RTP packet of the stream. */
  receive(packet: Buffer): void {
    if (!readRtp(packet, this.#view)) return
    const { ssrc, payloadType } = this.#view
    this.#assembler ??= new FrameAssembler({
      ssrc,
      payloadType,
      onFrame: (data, at, timestamp) => this.frames.push({ at, timestamp, data }),
      onKeyNeeded: () => {},
    })
    this.#assembler.receive(performance.now(), packet)
  }
}

/** First frame of a stream that shows a frame of the camera. Times in ms. */
export interface Shown {
  /** Time at which the camera's frame was sent. */
  readonly sentAt: number
  readonly frame: ArrivedFrame
  /** Height of the picture in pixels. */
  readonly height: number
}

/**
 * Finds in a log the frames that show frames of the camera, which were sent at `sentAt`, in `part` of the
 * picture.
 */
export const shownIn = (
  { frames }: FrameLog,
  addon: PicturesAddon,
  sentAt: readonly number[],
  part: Rectangle,
): Shown[] => {
  const reader = new MarkReader(addon, part)
  const shown: Shown[] = []
  let newest = -1
  for (const frame of frames) {
    const mark = reader.read(frame.data)
    if (mark === undefined) continue
    // The latest frame with this mark that was sent before.
    let number = sentAt.findLastIndex((at) => at <= frame.at)
    number -= (((number - mark) % markCount) + markCount) % markCount
    if (number <= newest) continue
    newest = number
    shown.push({ sentAt: sentAt[number]!, frame, height: reader.size[1] })
  }
  reader.close()
  return shown
}
