import pino from 'pino'
import { expect, it, vi } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { establish } from '../testing/dialog-rig.ts'
import { FakeDialog, FakeRequest, farResponse } from '../testing/fake-srf.ts'
import { sendDigits } from './leg-digits.ts'

const log = pino({ level: 'silent' })
const leg = { isEnded: false }
const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

it('digits are sent as INFO with their pauses, until the first rejection', async () => {
  const clock = new FakeClock()
  const taken: string[] = []
  const info = async (digit: string) => taken.push(digit) < 2
  const sent = sendDigits(
    '1w2W3',
    { media: { port: { sendDigits: async () => false } }, leg, clock, log },
    info,
  )
  await settled()
  expect(taken).toEqual(['1'])
  clock.advance(500)
  await sent
  // An ended call leaves no timer, however many digits remain.
  expect([taken, clock.running]).toEqual([['1', '2'], 0])
})

it('digits are sent only by RFC 4733 if the far side supports it', async () => {
  const digits: string[] = []
  const port = { sendDigits: async (all: string) => digits.push(all) > 0 }
  const session = { media: { port }, leg, clock: new FakeClock(), log }
  await sendDigits('12', session, () => expect.unreachable())
  expect(digits).toEqual(['12'])
})

it.each([
  ['pressed', true],
  ['sent by INFO', false],
])(
  'digits that the far side rejects cause a warning, unless it has hung up meanwhile: %s',
  async (_how, pressed) => {
    const warn = vi.fn()
    for (const isEnded of [false, true]) {
      const call = { isEnded: false }
      const hangsUp = <T>(value: T) => {
        call.isEnded = isEnded
        return value
      }
      const port = { sendDigits: async () => (pressed ? hangsUp(false) : false) }
      const info = async () => hangsUp(false)
      const session = { media: { port }, leg: call, clock: new FakeClock(), log: { warn } }
      await sendDigits('1', session, pressed ? undefined : info)
    }
    expect(warn).toHaveBeenCalledTimes(1)
  },
)

it.each([
  ['in the usual way', undefined, undefined, 'application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n'],
  ['as the far side does', 'application/dtmf', undefined, 'application/dtmf', '5'],
  ['as the far side takes it', undefined, 'application/sdp, application/dtmf', 'application/dtmf', '5'],
])('a digit is sent by INFO %s', (_what, heard, accept, type, body) => {
  const res = farResponse(200, '', accept ? { Accept: accept } : {})
  const dialog = Object.assign(new FakeDialog(), { res })
  const bench = establish({ outbound: true, parts: { dialog } })
  if (heard) dialog.receive(new FakeRequest('INFO', 'sip:x@y', '1', { 'content-type': heard }))
  void bench.established.sendInfoDigit('5')
  expect(dialog.requests).toMatchObject([{ method: 'INFO', headers: { 'Content-Type': type }, body }])
})
