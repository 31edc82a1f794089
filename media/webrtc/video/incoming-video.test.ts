import type { types } from 'mediasoup'
import { expect, it } from 'vitest'
import type { MLine } from '../m-line.ts'
import { ownVideo } from '../sdp/video-format.ts'
import { type CameraSectionOptions, cameraSection, twoSizes } from '../testing/camera-section.ts'
import { IncomingVideo } from './incoming-video.ts'

it('names the streams of a camera in several sizes to the next transport, until its browser connects anew', async () => {
  const camera = new IncomingVideo()
  /** Encodings of each producer. */
  const produced: unknown[] = []
  const take = (options?: CameraSectionOptions) => {
    const ssrc = 10 * (produced.length + 1)
    const transport = {
      produce: async ({ rtpParameters: { encodings } }: types.ProducerOptions) => {
        produced.push(encodings!.map(({ rid, ssrc }) => rid ?? ssrc))
        return { close: () => {}, score: [{ encodingIdx: 0, ssrc, score: 10 }] }
      },
    }
    return camera.take({
      line: { transport } as unknown as MLine,
      section: cameraSection(options),
      format: ownVideo,
      simulcast: twoSizes,
    })
  }
  await take()
  await take()
  await take({ direction: 'inactive' })
  await take()
  await take({ certificate: 'BB' })
  expect(produced).toEqual([
    ['q', 'h'],
    [10, 'h'],
    [20, 'h'],
    ['q', 'h'],
  ])
})
