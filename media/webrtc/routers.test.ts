import type { types } from 'mediasoup'
import { describe, expect, it } from 'vitest'
import { Routers } from './routers.ts'
import { type AudioFormat, ownFormat } from './sdp/negotiate.ts'

const made = () => {
  const codecs: (types.RtpCodecCapability | types.RouterRtpCodecCapability)[][] = []
  const createRouter = async ({ mediaCodecs = [] }: types.RouterOptions = {}) => {
    codecs.push(mediaCodecs)
    return { id: String(codecs.length) }
  }
  const routers = new Routers({ createRouter: createRouter as unknown as types.Worker['createRouter'] })
  return { routers, codecs }
}
const withEvents = (payloadType: number): AudioFormat => ({
  ...ownFormat('PCMU'),
  events: [{ payloadType, clockRate: 8000 }],
})

describe('the routers of a worker', () => {
  it('carry telephone-events under the names of unused codecs', async () => {
    const { routers, codecs } = made()
    await routers.audioWithEvents(ownFormat('opus'))
    expect(codecs[0]?.map(({ mimeType, preferredPayloadType: number }) => `${mimeType} ${number}`)).toEqual([
      'audio/opus 111',
      'audio/iLBC 126',
      'audio/ISAC 110',
    ])
  })

  it('are shared for equal payload types, and limited in number', async () => {
    const { routers, codecs } = made()
    const first = await routers.audioWithEvents(withEvents(35))
    const again = await routers.audioWithEvents(withEvents(35))
    expect(again).toBe(first)
    for (let number = 36; number < 127; number++) await routers.audioWithEvents(withEvents(number))
    expect(codecs).toHaveLength(64)
    expect(await routers.audioWithEvents(withEvents(126))).toBeUndefined()
    expect(await routers.audioWithEvents(withEvents(35))).toBe(first)
    await routers.audio()
    expect(codecs).toHaveLength(65)
  })
})
