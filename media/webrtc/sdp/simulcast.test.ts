import { describe, expect, it } from 'vitest'
import { browserOffer } from '../testing/browser-offer.ts'
import { producerParameters } from '../video-parameters.ts'
import { planAnswer } from './negotiate.ts'
import { readSdp } from './read-sdp.ts'

/** Lines that a browser adds for simulcast. */
const simulcastLines = [
  'a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid',
  'a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id',
  'a=rid:q send',
  'a=rid:h send',
  'a=rid:f send',
  'a=simulcast:send q;h;f',
]

/** Returns an offer whose video has these lines, and a further m-line that only receives. */
const offerWith = (lines: readonly string[], direction = 'sendonly'): string => {
  const all = browserOffer({ video: true })
  const start = all.indexOf('m=video')
  const video = all
    .slice(start)
    .replace(/a=ssrc.*\r\n/g, '')
    .replace('a=sendrecv', [`a=${direction}`, ...lines].join('\r\n'))
  const view = video
    .replace('a=mid:1', 'a=mid:2')
    .replace(`a=${direction}`, 'a=recvonly')
    .replace(/a=(rid|simulcast).*\r\n/g, '')
  return all.slice(0, start) + video + view
}

const simulcastOf = (lines: readonly string[], direction?: string) => {
  const plan = planAnswer(readSdp(offerWith(lines, direction), 'offer'), ['opus'])[1]
  return plan?.kind === 'video' ? plan.simulcast?.rids : undefined
}
const withLine = (start: string, line: string) =>
  simulcastLines.map((each) => (each.startsWith(start) ? line : each))

describe('simulcast in an offer', () => {
  it('is received in its order, and a further m-line is used for the video of others', () => {
    const plans = planAnswer(readSdp(offerWith(simulcastLines), 'offer'), ['opus'])
    expect(plans).toMatchObject([
      { kind: 'audio' },
      { isUsed: true, simulcast: { rids: ['q', 'h', 'f'], ridExtension: 10 } },
      { isUsed: true, section: { direction: 'recvonly' } },
    ])
    expect(plans[2]).not.toHaveProperty('simulcast')
  })

  it('is received with the three temporal layers of browsers, of which mediasoup would drop two', () => {
    const plan = planAnswer(readSdp(offerWith(simulcastLines), 'offer'), ['opus'])[1]
    if (plan?.kind !== 'video') throw new Error('video expected')
    const { encodings } = producerParameters(plan.section, plan.video, plan.simulcast)
    expect(encodings).toEqual(['q', 'h', 'f'].map((rid) => ({ rid, scalabilityMode: 'L1T3' })))
  })

  it('takes the first choice of each stream, and at most three', () => {
    expect(simulcastOf(withLine('a=simulcast', 'a=simulcast:send ~q,h;f'))).toEqual(['q', 'f'])
    expect(simulcastOf(withLine('a=simulcast', 'a=simulcast:recv a send q;h'))).toEqual(['q', 'h'])
    const many = Array.from({ length: 40 }, (_, i) => `r${i}`)
    const lines = [...many.map((rid) => `a=rid:${rid} send`), `a=simulcast:send ${many.join(';')}`]
    expect(simulcastOf([...simulcastLines.slice(0, 2), ...lines])).toEqual(['r0', 'r1', 'r2'])
  })

  it('is ignored if its packets cannot be distinguished, or fewer than two streams are left', () => {
    const withSsrc = simulcastLines.with(0, 'a=ssrc:77 cname:us')
    expect(simulcastOf(withSsrc)).toBeUndefined()
    expect(() => simulcastOf(simulcastLines.slice(1))).toThrow('a=mid:1')
    expect(simulcastOf(withLine('a=extmap:10', 'a=extmap:10 urn:example:other'))).toBeUndefined()
    expect(simulcastOf(withLine('a=simulcast', 'a=simulcast:send q;q;q'))).toBeUndefined()
    expect(simulcastOf(withLine('a=simulcast', 'a=simulcast:send x;y'))).toBeUndefined()
    expect(simulcastOf(withLine('a=simulcast', 'a=simulcast:send ;;;'))).toBeUndefined()
    expect(
      simulcastOf(withLine('a=rid:h', 'a=rid:h recv').filter((line) => !/rid:f/.test(line))),
    ).toBeUndefined()
  })
})
