import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { settle, setUp } from '../testing/calls-fixture.ts'

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

describe('the rejection of an unanswered call', () => {
  it.each([
    ['hangup', 'normal'],
    ['busy', 'busy'],
    ['decline', 'declined'],
    ['no-answer', 'no_answer'],
    ['error', 'handler_failed'],
  ] as const)('%s: %s', async (reason, code) => {
    const { far, call } = await t.wait()
    await call.hangup(reason)
    expect(far.requests).toEqual([`end ${code}`])
  })

  it('an answered call is hung up for any reason', async () => {
    const { far, call } = await t.wait()
    await call.answer()
    await call.hangup('busy')
    expect(far.requests).toEqual(['answer', 'end normal'])
  })
})

it('rings an unanswered call, and does nothing for an answered one', async () => {
  const { far, call } = await t.wait()
  await call.ring()
  await call.answer()
  await call.ring()
  expect(far.requests).toEqual(['ring', 'answer'])
})

it('answers with one of the given codecs, and warns if the open audio keeps another one', async () => {
  const lines: Readonly<Record<string, unknown>>[] = []
  const log = pino({ level: 'warn', base: null }, { write: (text) => lines.push(JSON.parse(text)) })
  for (const codecs of [['PCMA', 'PCMU'], ['PCMA']] as const) {
    const { far, call } = await setUp({ log }).wait()
    await call.answer({ codecs })
    expect(far.requests).toEqual([`answer ${codecs.join(' ')}`])
  }
  expect(lines).toMatchObject([{ codec: 'PCMU', wanted: ['PCMA'] }])
})

it('sends an event to a page, and reports a call without a page', async () => {
  const { far, call } = await t.wait()
  expect(call.sendUserEvent({ a: 1 })).toBe(false)
  const events: unknown[] = []
  Object.assign(far, { userEvent: (event: unknown) => events.push(event) > 0 })
  expect(call.sendUserEvent({ a: 1 })).toBe(true)
  expect(events).toEqual([{ a: 1 }])
})

describe('refer', () => {
  const referred = async (outcome: object) => {
    const side = await t.wait()
    const requests: unknown[] = []
    Object.assign(side.far, {
      refer: async (...args: unknown[]) => {
        requests.push(args)
        return outcome
      },
    })
    const options = { to: 'sip:b@x', username: 'ann', password: 'secret', timeoutMs: 5_000 }
    return { ...side, requests, result: side.call.refer(options) }
  }

  it('ends the call if it is accepted', async () => {
    const outcome = { kind: 'completed', status: 202, notifyStatus: 200 }
    const { result, far, requests } = await referred(outcome)
    expect(await result).toEqual(outcome)
    expect(far.requests).toEqual(['answer', 'end normal'])
    const credentials = { username: 'ann', password: 'secret' }
    expect(requests).toEqual([['sip:b@x', { timeoutMs: 5_000, credentials }]])
    await settle()
    expect([t.calls.count, t.controllers.pending]).toEqual([0, 0])
  })

  it('goes on if it is rejected', async () => {
    const outcome = { kind: 'busy', status: 202, notifyStatus: 486 }
    const { result, leg } = await referred(outcome)
    expect(await result).toEqual(outcome)
    expect(leg.isAnswered).toBe(true)
  })
})
