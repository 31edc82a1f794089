import { describe, expect, it } from 'vitest'
import { readSdp } from '../sdp/read-sdp.ts'
import { farSdp } from '../testing/dialog-rig.ts'
import { TestPort } from '../testing/fake-edge.ts'
import { LegMedia } from './leg-media.ts'

const v4 = farSdp({ address: '192.0.2.1' })
const v6 = farSdp({ address: '2001:db8::1' })

const made = (source?: string, families: readonly (4 | 6)[] = [4, 6]) => {
  const port = new TestPort('call')
  port.families = families
  return { port, media: new LegMedia(port, '1', source === undefined ? {} : { source }) }
}
const addressIn = (sdp: string) => /^c=IN (\S+ \S+)\r$/m.exec(sdp)?.[1]
const originIn = (sdp: string) => /^o=- (\d+) (\d+) (.*)\r$/m.exec(sdp)?.slice(1)

describe('the audio of a leg with both IP families', () => {
  it.each([
    [v4, 'IP4 127.0.0.1'],
    [v6, 'IP6 ::1'],
  ])('is answered in the IP family of the offer, whatever the family of the signalling', (offer, address) => {
    for (const source of ['192.0.2.5', '2001:db8::5'])
      expect(addressIn(made(source).media.answer(readSdp(offer)))).toBe(address)
  })

  it('is offered in the family of the signalling, and later in that of the far side', () => {
    const { media } = made('2001:db8::5')
    expect(addressIn(media.offer(undefined, 'response'))).toBe('IP6 ::1')
    media.accept(readSdp(v4))
    expect(addressIn(media.offer(undefined, 'response'))).toBe('IP4 127.0.0.1')
  })

  it('changes to the other family with a new offer and back, also through a hold, in one session', () => {
    const { media, port } = made('192.0.2.5')
    const first = media.answer(readSdp(v4))
    const second = media.answer(readSdp(farSdp({ address: '2001:db8::1', version: 2 })))
    expect([addressIn(second), port.far?.address]).toEqual(['IP6 ::1', '2001:db8::1'])
    // One origin for the whole session (RFC 8866 section 5.2).
    expect(originIn(second)).toEqual(['1', '2', 'IN IP4 127.0.0.1'])
    expect(originIn(first)?.[2]).toBe('IN IP4 127.0.0.1')
    const held = media.answer(readSdp(farSdp({ address: '0.0.0.0', version: 3 })))
    expect([addressIn(held), port.far?.address]).toEqual(['IP6 ::1', '2001:db8::1'])
    expect(addressIn(media.answer(readSdp(farSdp({ address: '192.0.2.1', version: 4 }))))).toBe(
      'IP4 127.0.0.1',
    )
  })

  it('is rejected for an offer of a family without an address', () => {
    const { media } = made('192.0.2.5', [4])
    expect(() => media.answer(readSdp(v6))).toThrow(/cannot be sent/)
    expect(addressIn(media.answer(readSdp(v4)))).toBe('IP4 127.0.0.1')
  })
})
