import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CallBody } from '../../gateway/operator/call-list.ts'
import type { TraceBody } from '../../gateway/operator/call-trace.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { SipCaller } from '../support/sip-caller.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await Gateway.start({
    drain: '30s',
    domains: [application('talk.test', scripted('answer', { sleep: -1 }))],
    carriers: [{ name: 'quiet', targets: ['sip:127.0.0.1:9'] }],
  })
})
afterAll(() => gateway?.stop())

const json = async <T>(...words: readonly string[]): Promise<T> => {
  const { code, text } = await gateway.command(...words, '--json')
  expect(code, text).toBe(0)
  return JSON.parse(text) as T
}

const answered = async (): Promise<Carrier> => {
  const carrier = await Carrier.calls(gateway, { domain: 'talk.test', scenario: 'caller-released' })
  await carrier.sipp.event('answered')
  return carrier
}

it('an operator sees a call and its SIP messages, and ends it', async () => {
  const carrier = await answered()
  const { calls } = await json<{ readonly calls: readonly CallBody[] }>('calls')
  expect(calls).toMatchObject([{ state: 'in-progress', to: 'sip:+15550002222@talk.test', codecs: ['PCMU'] }])
  const id = calls[0]?.id.slice(0, 8) ?? ''
  expect((await gateway.command('hangup', id, '--reason', 'normal')).code).toBe(0)
  await carrier.done()
  // The trace of an ended call still has all of its messages.
  const { messages, call } = await json<TraceBody>('trace', id)
  expect(call?.id).toBe(calls[0]?.id)
  const steps = messages.map(({ direction, text }) => `${direction} ${text.split(/ |\r\n/, 2).join(' ')}`)
  // A 100 is sent only if the answer takes 200 ms.
  expect(steps.filter((step) => step !== 'sent SIP/2.0 100')).toEqual([
    expect.stringContaining('received INVITE'),
    'sent SIP/2.0 200',
    expect.stringContaining('received ACK'),
    expect.stringContaining('sent BYE'),
    'received SIP/2.0 200',
  ])
  expect((await gateway.command('trace', id, '--ladder')).text).toMatch(/│─+ INVITE ─+▶│/)
  expect((await gateway.command('hangup', id)).code).toBe(1)
})

it('an operator sees why a request was rejected, and its messages', async () => {
  const caller = await SipCaller.open(gateway.sipPort, '127.0.0.1')
  expect((await caller.call('sip:1@unknown.test')).status).toBe(404)
  caller.close()
  interface Refusal {
    readonly code: string
    readonly sipCallId: string
  }
  const { refusals } = await json<{ readonly refusals: readonly Refusal[] }>('refusals')
  expect(refusals[0]).toMatchObject({
    code: 'unknown_domain',
    status: 404,
    source: '127.0.0.1',
    domain: 'unknown.test',
  })
  const { call, messages } = await json<TraceBody>('trace', refusals[0]?.sipCallId ?? '')
  expect(call).toBeNull()
  expect(messages.map(({ text }) => text).join('')).toContain('SIP/2.0 404')
})

it('a carrier without pings is unknown, and the gateway drains until its last call has ended', async () => {
  const status = await json<{ readonly health: string; readonly carriers: readonly object[] }>('status')
  expect(status).toMatchObject({ health: 'healthy', carriers: [{ name: 'quiet', state: 'unknown' }] })
  const carrier = await answered()
  const draining = gateway.command('drain', '--timeout', '2s')
  await carrier.done()
  const { code, text } = await draining
  expect(code).toBe(0)
  expect(text.split('\n')[0]).toBe('Draining: 1 call in progress.')
  expect(text.split('\n').at(-1)).toBe('The gateway has ended its calls and stopped.')
  expect(await gateway.ended()).toBe(0)
  expect((await gateway.command('status')).code).toBe(3)
})
