import { describe, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { carrierSdp } from '../testing/bench.ts'
import { OutboundRig } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'

const setUp = (changes: Partial<CarrierConfig> = {}) =>
  new OutboundRig([testCarrier({ targets: ['sip:a.example', 'sip:b.example'], ...changes })])
const number = 'sip:+1@a.example'

describe('every end releases all resources', () => {
  type End = (rig: OutboundRig, leg: Awaited<ReturnType<OutboundRig['dial']>>['leg']) => void
  it.each<[string, End, string | undefined]>([
    ['a refusal', (rig) => rig.next().refuse(486), 'refused'],
    [
      'a CANCEL',
      (rig, leg) => {
        const invite = rig.next()
        leg.end({ code: 'no_answer' })
        invite.refuse(487)
      },
      'canceled',
    ],
    [
      'an answer that crosses the CANCEL',
      (rig, leg) => {
        const invite = rig.next()
        leg.end({ code: 'canceled' })
        invite.answer(carrierSdp({ address: '192.0.2.9' })).byes[0]!()
      },
      'canceled',
    ],
    [
      'a BYE of the far side',
      (rig) => {
        rig
          .next()
          .answer(carrierSdp({ address: '192.0.2.9' }))
          .emit('destroy', {}, 'normal release')
      },
      'answered',
    ],
    [
      'a BYE of the gateway without an answer',
      (rig, leg) => {
        rig.next().answer(carrierSdp({ address: '192.0.2.9' }))
        leg.end({ code: 'normal' })
        rig.clock.advance(40_000)
      },
      'answered',
    ],
    [
      'the loss of the agent',
      (rig) => {
        rig.next()
        rig.connection.isAlive = false
        rig.legs.lost()
      },
      'unreachable',
    ],
    [
      'drachtio-srf that throws',
      (rig) => rig.next().uac.settle({ message: 'socket has been destroyed' }),
      'unreachable',
    ],
  ])('%s', async (_what, end, outcome) => {
    const rig = setUp({ targets: ['sip:a.example'], maxCalls: 5 })
    const { leg } = await rig.dial(number)
    end(rig, leg)
    expect(leg.isEnded).toBe(true)
    expect(rig.left).toEqual([0, 0, 0, 0])
    expect(leg.attempts.map((each) => each.outcome)).toEqual([outcome])
    expect(leg.times.endedAt).toBeDefined()
  })
})

it('a call to a registered endpoint is sent over its flow, whatever its Contact is', async () => {
  const rig = setUp()
  await rig.dial('sip:ann@10.1.2.3:5060', {}, { nextHop: 'sip:198.51.100.4:61000;transport=tcp' })
  const { uri, options } = rig.next().uac
  expect([uri, options.proxy]).toEqual(['sip:ann@10.1.2.3:5060', 'sip:198.51.100.4:61000;transport=tcp'])
})
