import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { settle, setUp } from '../testing/calls-fixture.ts'

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

describe('how an unanswered call is refused', () => {
  it.each([
    ['hangup', 'normal'],
    ['busy', 'busy'],
    ['decline', 'declined'],
    ['no-answer', 'no_answer'],
    ['error', 'handler_failed'],
  ] as const)('%s: %s', async (reason, code) => {
    const { far, call } = await t.wait()
    await call.hangup(reason)
    expect(far.told).toEqual([`end ${code}`])
  })

  it('an answered one is hung up, whatever the reason', async () => {
    const { far, call } = await t.wait()
    await call.answer()
    await call.hangup('busy')
    expect(far.told).toEqual(['answer', 'end normal'])
  })
})

it('rings, and does nothing for a call that is answered', async () => {
  const { far, call } = await t.wait()
  await call.ring()
  await call.answer()
  await call.ring()
  expect(far.told).toEqual(['ring', 'answer'])
})

it('answers in one of certain codecs, and says where the open audio keeps another one', async () => {
  const lines: Readonly<Record<string, unknown>>[] = []
  const log = pino({ level: 'warn', base: null }, { write: (text) => lines.push(JSON.parse(text)) })
  for (const codecs of [['PCMA', 'PCMU'], ['PCMA']] as const) {
    const { far, call } = await setUp({ log }).wait()
    await call.answer({ codecs })
    expect(far.told).toEqual([`answer ${codecs.join(' ')}`])
  }
  expect(lines).toMatchObject([{ codec: 'PCMU', wanted: ['PCMA'] }])
})

it('tells a page what it is given, and says where there is none', async () => {
  const { far, call } = await t.wait()
  expect(call.sendUserEvent({ a: 1 })).toBe(false)
  const heard: unknown[] = []
  Object.assign(far, { userEvent: (event: unknown) => heard.push(event) > 0 })
  expect(call.sendUserEvent({ a: 1 })).toBe(true)
  expect(heard).toEqual([{ a: 1 }])
})

describe('refer', () => {
  const referred = async (outcome: object) => {
    const side = await t.wait()
    const asked: unknown[] = []
    Object.assign(side.far, {
      refer: async (...args: unknown[]) => {
        asked.push(args)
        return outcome
      },
    })
    const options = { to: 'sip:b@x', username: 'ann', password: 'secret', timeoutMs: 5_000 }
    return { ...side, asked, result: side.call.refer(options) }
  }

  it('ends the call where it was taken', async () => {
    const outcome = { kind: 'completed', status: 202, notifyStatus: 200 }
    const { result, far, asked } = await referred(outcome)
    expect(await result).toEqual(outcome)
    expect(far.told).toEqual(['answer', 'end normal'])
    const credentials = { username: 'ann', password: 'secret' }
    expect(asked).toEqual([['sip:b@x', { timeoutMs: 5_000, credentials }]])
    await settle()
    expect([t.calls.count, t.controllers.pending]).toEqual([0, 0])
  })

  it('goes on where it was not', async () => {
    const outcome = { kind: 'busy', status: 202, notifyStatus: 486 }
    const { result, leg } = await referred(outcome)
    expect(await result).toEqual(outcome)
    expect(leg.isAnswered).toBe(true)
  })
})
