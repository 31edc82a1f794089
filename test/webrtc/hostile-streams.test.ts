/** Packets of a browser that would end the mediasoup process by an assertion, in a real process. */
import fc from 'fast-check'
import type { types } from 'mediasoup'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeRtpHeader } from '../../media/rtp/packet.ts'
import { ownVideo } from '../../media/webrtc/sdp/video-format.ts'
import { cameraSection, twoSizes } from '../../media/webrtc/testing/camera-section.ts'
import { LearnedStreams } from '../../media/webrtc/video/learned-streams.ts'
import { producerParameters } from '../../media/webrtc/video-parameters.ts'
import { DirectWorker } from '../support/webrtc/direct-browser.ts'

/** Camera whose SSRC the SDP does not name. */
const section = cameraSection()
const { mid, midExtension } = section

let sequence = 0

/** Fields of a packet, each of which may be absent. */
interface PacketFields {
  readonly ssrc: number
  readonly mid?: string | undefined
  readonly rid?: string | undefined
  readonly payloadType?: number
}

/** Returns a packet with its header extensions (RFC 8285 section 4.2: one-byte headers). */
const anyPacket = ({ ssrc, mid: id, rid, payloadType = ownVideo.payloadType }: PacketFields): Buffer => {
  const elements = [
    ...(id ? [[midExtension, id] as const] : []),
    ...(rid ? [[twoSizes.ridExtension, rid] as const] : []),
  ]
  const bytes = Buffer.concat(
    elements.map(([id, text]) => Buffer.from([(id << 4) | (text.length - 1), ...Buffer.from(text)])),
  )
  const words = Math.ceil(bytes.length / 4)
  const packet = Buffer.alloc(12 + 4 + 4 * words + 20)
  writeRtpHeader(packet, 0, {
    payloadType,
    marker: true,
    sequence: sequence++,
    timestamp: 0,
    ssrc,
  })
  packet[0]! |= 0x10
  packet.writeUInt16BE(0xbede, 12)
  packet.writeUInt16BE(words, 14)
  bytes.copy(packet, 16)
  return packet
}

/** Returns a packet of the camera, with the id of its encoding. */
const packetOf = (ssrc: number, rid?: string): Buffer => anyPacket({ ssrc, mid, rid })

let host: DirectWorker
beforeAll(async () => {
  host = await DirectWorker.start()
})
afterAll(() => host?.worker.close())

/** Sends packets of a camera, and returns the SSRCs of the streams that the process knows of it. */
const streamsAfter = async (
  rtpParameters: types.RtpParameters,
  packets: readonly Buffer[],
): Promise<number[]> => {
  const router = await host.routers.video(ownVideo)
  const transport = await router.createDirectTransport()
  const producer = await transport.produce({ kind: 'video', rtpParameters })
  for (const packet of packets) producer.send(packet)
  const stats = await producer.getStats()
  transport.close()
  return stats.map(({ ssrc }) => ssrc)
}

describe('the mediasoup process', () => {
  it('outlives a packet of SSRC 0 after one of another SSRC', async () => {
    const parameters = producerParameters(section, ownVideo)
    expect(await streamsAfter(parameters, [packetOf(5), packetOf(0)])).toEqual([5])
  })

  it('outlives SSRC 0 in a camera of several sizes', async () => {
    const parameters = producerParameters(section, ownVideo, twoSizes)
    const encodings = new LearnedStreams().complete('a', parameters.encodings)
    const packets = [packetOf(6, 'q'), packetOf(7, 'h'), packetOf(0), packetOf(0, 'q')]
    expect(await streamsAfter({ ...parameters, encodings }, packets)).toEqual([6, 7])
  })

  it('outlives a second stream of an encoding whose SSRC it knows', async () => {
    const parameters = producerParameters(section, ownVideo, twoSizes)
    const learned = new LearnedStreams()
    learned.learn('a', { score: [{ encodingIdx: 0, ssrc: 11, score: 10 }] })
    const encodings = learned.complete('a', parameters.encodings)
    const packets = [packetOf(99, 'q'), packetOf(11), packetOf(12, 'h')]
    expect(await streamsAfter({ ...parameters, encodings }, packets)).toEqual([11, 12])
  })

  it('outlives packets that name streams, sizes and formats in any order', async () => {
    const anyOf = <T>(values: readonly T[]) => fc.constantFrom(...values)
    const fields = fc.record({
      ssrc: anyOf([0, 5, 6, 11, 12, 0xffff_ffff]),
      mid: anyOf([undefined, mid, '2']),
      rid: anyOf([undefined, 'q', 'h', 'x']),
      payloadType: anyOf([ownVideo.payloadType, ownVideo.payloadType, 97, 0]),
    })
    const learned = new LearnedStreams()
    learned.learn('a', { score: [{ encodingIdx: 0, ssrc: 11, score: 10 }] })
    const several = producerParameters(section, ownVideo, twoSizes)
    const cameras = [
      producerParameters(section, ownVideo),
      producerParameters(cameraSection({ ssrc: 5 }), ownVideo),
      { ...several, encodings: learned.complete('a', several.encodings) },
    ]
    await fc.assert(
      fc.asyncProperty(anyOf(cameras), fc.array(fields, { maxLength: 20 }), async (camera, packets) => {
        const streams = await streamsAfter(camera, packets.map(anyPacket))
        expect(streams.length).toBeLessThanOrEqual(camera.encodings?.length ?? 0)
      }),
      { numRuns: 300 },
    )
  })
})
