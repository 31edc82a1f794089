import type { types } from 'mediasoup'
import { expect, it } from 'vitest'
import type { MLine } from '../m-line.ts'
import type { MediaSection } from '../sdp/session-description.ts'
import { ownVideo } from '../sdp/video-format.ts'
import { IncomingVideo } from './incoming-video.ts'

const simulcast = { rids: ['q', 'h'], ridExtension: 4 }

/** Returns the description of a camera in two sizes. */
const sectionOf = (direction: MediaSection['direction'], certificate: string): MediaSection => ({
  kind: 'video',
  mid: '1',
  protocol: 'UDP/TLS/RTP/SAVPF',
  formats: [],
  direction,
  credentials: {
    ufrag: 'u',
    password: 'p',
    fingerprint: { algorithm: 'sha-256', value: certificate },
    setup: 'actpass',
  },
  midExtension: 3,
  simulcast,
})

it('names the streams of a camera in several sizes to the next transport, until its browser connects anew', async () => {
  const camera = new IncomingVideo()
  /** Encodings of each producer. */
  const produced: unknown[] = []
  const take = (direction: MediaSection['direction'], certificate = 'AA') => {
    const ssrc = 10 * (produced.length + 1)
    const transport = {
      produce: async ({ rtpParameters: { encodings } }: types.ProducerOptions) => {
        produced.push(encodings!.map(({ rid, ssrc }) => rid ?? ssrc))
        return { close: () => {}, score: [{ encodingIdx: 0, ssrc, score: 10 }] }
      },
    }
    return camera.take({
      line: { transport } as unknown as MLine,
      section: sectionOf(direction, certificate),
      format: ownVideo,
      simulcast,
    })
  }
  await take('sendonly')
  await take('sendonly')
  await take('inactive')
  await take('sendonly')
  await take('sendonly', 'BB')
  expect(produced).toEqual([
    ['q', 'h'],
    [10, 'h'],
    [20, 'h'],
    ['q', 'h'],
  ])
})
