import { describe, expect, it } from 'vitest'
import { carrierSdp } from './testing/bench.ts'
import { establish, farAddress, farSdp } from './testing/dialog-rig.ts'
import type { FakeDialog } from './testing/fake-srf.ts'
import { arrive } from './testing/inbound-rig.ts'
import { OutboundRig } from './testing/outbound-rig.ts'

/** Returns all permutations of the events. */
const orders = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  all.length === 0
    ? [[]]
    : all.flatMap((first, at) => orders(all.filter((_each, i) => i !== at)).map((rest) => [first, ...rest]))

const reliable = { reliability: 'supported' } as const

describe('an INVITE of the peer ends the same way in every order of', () => {
  type Event = 'answer' | 'agent' | 'cancel' | 'end' | 'ack' | 'bye'
  const run = (order: readonly Event[], lateOffer: boolean) => {
    const bench = arrive({}, lateOffer ? '' : farSdp())
    let dialog: FakeDialog | undefined
    let canceled = false
    let farFirst = false
    for (const event of order) {
      const out = bench.srf.answers.length > 0
      if (event === 'answer') void bench.leg.answer()
      if (event === 'end') bench.leg.end({ code: 'normal' })
      // The agent reports a CANCEL only before its 200, and a dialog only after its 200.
      if (event === 'cancel' && !dialog) {
        canceled = true
        bench.request.emit('cancel')
      }
      if (event === 'agent' && out) {
        if (canceled) bench.srf.answers[0]?.done('Response not sent due to unknown transaction')
        else dialog = bench.answered()
      }
      if (event === 'ack') dialog?.emit('ack', { body: lateOffer ? farSdp() : '' })
      if (event === 'bye' && dialog) {
        farFirst ||= dialog.byes.length === 0
        dialog.emit('destroy', {}, 'normal release')
      }
    }
    bench.leg.end({ code: 'normal' })
    dialog?.emit('ack', { body: '' })
    for (const bye of dialog?.byes ?? []) bye()
    bench.clock.advance(80_000)
    return { bench, dialog, farFirst, ended: bench.heard.filter((each) => each.startsWith('ended')) }
  }

  it.each([false, true])(
    'answer, agent response, CANCEL, end by the gateway, ACK and BYE (late offer: %s)',
    (lateOffer) => {
      for (const order of orders<Event>(['answer', 'agent', 'cancel', 'end', 'ack', 'bye'])) {
        const { bench, dialog, farFirst, ended } = run(order, lateOffer)
        const said = order.join(' ')
        expect([said, ended.length, bench.released(), bench.port.closed, bench.clock.running]).toEqual([
          said,
          1,
          true,
          true,
          0,
        ])
        // One side hangs up an answered leg; the gateway does so at most once.
        expect([said, dialog?.byes.length]).toEqual([said, dialog && (farFirst ? 0 : 1)])
      }
    },
  )

  it('PRACK, answer, CANCEL and end by the gateway', () => {
    type Step = 'prack' | 'answer' | 'cancel' | 'end'
    for (const offer of [farSdp(), ''])
      for (const order of orders<Step>(['prack', 'answer', 'cancel', 'end'])) {
        const bench = arrive(reliable, offer)
        void bench.leg.progress()
        for (const step of order) {
          if (step === 'prack') bench.prack(offer === '' ? farSdp() : '')
          if (step === 'answer') void bench.leg.answer()
          if (step === 'cancel') bench.request.emit('cancel')
          if (step === 'end') bench.leg.end({ code: 'normal' })
        }
        for (const { done } of bench.srf.answers) done('Response not sent due to unknown transaction')
        const said = order.join(' ')
        expect([said, bench.released(), bench.port.closed, bench.clock.running]).toEqual([
          said,
          true,
          true,
          0,
        ])
        expect(bench.heard.filter((each) => each.startsWith('ended'))).toHaveLength(1)
      }
  })
})

it('an INVITE of the gateway ends the same way in every order of 180, 183, 200 and CANCEL', async () => {
  type Event = 'ringing' | 'early' | 'answer' | 'cancel'
  for (const order of orders<Event>(['ringing', 'early', 'answer', 'cancel'])) {
    const rig = new OutboundRig()
    const { leg } = await rig.dial('sip:1@carrier.example')
    const invite = rig.next()
    let dialog: FakeDialog | undefined
    for (const event of order) {
      if (event === 'ringing') invite.provisional(180)
      if (event === 'early') invite.provisional(183, carrierSdp({ address: farAddress }))
      if (event === 'answer') dialog = invite.answer(carrierSdp({ address: farAddress }))
      if (event === 'cancel') leg.end({ code: 'canceled' })
    }
    // An answered INVITE is hung up, whichever event came first.
    expect([order.join(' '), dialog?.byes.length]).toEqual([order.join(' '), 1])
    dialog?.byes[0]?.()
    expect([leg.isEnded, ...rig.left]).toEqual([true, 0, 0, 0])
  }
})

describe('the end of a call', () => {
  const timer = {
    settings: { expiresMs: 1_800_000, minMs: 90_000 },
    terms: { expiresMs: 900_000, refresher: 'us' },
  } as const
  const ends = {
    ours: (bench: ReturnType<typeof establish>) => {
      bench.leg.end({ code: 'max_duration' })
      bench.dialog.byes[0]?.()
    },
    'ours, without an answer to the BYE': (bench: ReturnType<typeof establish>) => {
      bench.leg.end({ code: 'normal' })
      bench.clock.advance(40_000)
    },
    theirs: (bench: ReturnType<typeof establish>) => bench.dialog.emit('destroy', {}, 'normal release'),
    'a lost connection': (bench: ReturnType<typeof establish>, connection: { isAlive: boolean }) => {
      connection.isAlive = false
      bench.leg.ended({ code: 'control_lost' })
      bench.established.lost()
    },
  }
  const pending = {
    nothing: () => {},
    'a re-INVITE of ours': (bench: ReturnType<typeof establish>) => bench.clock.advance(450_000),
    'a re-INVITE of theirs without its ACK': (bench: ReturnType<typeof establish>) =>
      void bench.receive('INVITE'),
    'a REFER of ours': (bench: ReturnType<typeof establish>) =>
      void bench.established.refer('sip:c@d.example'),
    'a digit': (bench: ReturnType<typeof establish>) => void bench.established.sendInfoDigit('1'),
  }

  for (const [how, end] of Object.entries(ends))
    it.each(Object.keys(pending) as (keyof typeof pending)[])(
      `${how}, with %s pending, leaves nothing open`,
      (what) => {
        const connection = { isAlive: true }
        const bench = establish({ parts: { timer, connection, allowsUpdate: false } })
        pending[what](bench)
        end(bench, connection)
        for (const request of bench.dialog.requests) request.reply(487)
        bench.clock.advance(0)
        expect([bench.released(), bench.port.closed, bench.leg.isEnded, bench.clock.running]).toEqual([
          true,
          true,
          true,
          0,
        ])
        expect(bench.dialog.byes.length).toBe(how.startsWith('ours') ? 1 : 0)
      },
    )
})
