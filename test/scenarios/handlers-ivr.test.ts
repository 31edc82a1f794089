/** @schedule tones first: listens for tones, and runs four applications through a long menu. */

/**
 * One IVR in four forms with the same behaviour: XML documents, a script, a call flow and a realtime
 * application.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { type RealtimeClient, SignalWire } from '../../realtime/src/index.ts'
import { application } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { tonesOf } from '../support/hearing.ts'
import { ivrInFlow, ivrInRealtime, ivrInScript, ivrInXml, ivrTones } from '../support/ivr.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'

const account = { project: 'default', token: 'token-of-the-scenario' }
const callerTone = 440
const deskTone = 850
const { greeting, question, sorry, goodbye, after, leave, thanks, ringing, beep } = ivrTones

let gateway: Gateway
let server: DocumentServer
let client: RealtimeClient
/** Callee of digit 1. */
let desk: Carrier

beforeAll(async () => {
  server = await DocumentServer.open()
  for (const [name, frequency] of Object.entries(ivrTones))
    server.put(`/sounds/${name}.wav`, wav(sine(frequency, 300, 8000, 8000), 8000))
  const parts = { server, desk: () => desk.uri }
  gateway = await Gateway.start({
    domains: [
      application('xml.test', { kind: 'xml', url: ivrInXml(parts) }),
      application('script.test', {
        kind: 'script',
        url: server.put('/script', () => JSON.stringify(ivrInScript(parts))),
      }),
      application('flow.test', {
        kind: 'flow',
        url: server.put('/flow', () => JSON.stringify(ivrInFlow(parts))),
      }),
      application('realtime.test', { kind: 'realtime', topic: 'ivr' }),
    ],
    http: { apiToken: account.token },
  })
  client = await SignalWire({ ...account, host: `ws://127.0.0.1:${gateway.httpPort}` })
  await client.voice.listen({
    topics: ['ivr'],
    // The program rejects if the caller hangs up.
    onCallReceived: (call) => void ivrInRealtime(call, parts).catch(() => {}),
  })
})

afterAll(async () => {
  await client?.disconnect()
  await gateway?.stop()
  await server?.close()
})

const tones = [...Object.values(ivrTones), deskTone]
const heard = ({ media }: Carrier): number[] => tonesOf(media.packets, tones)

/** Waits until the caller has heard exactly these tones, in this order. */
const hears = (caller: Carrier, ...expected: readonly number[]): Promise<unknown> =>
  until(
    `the caller hears ${expected}`,
    () => heard(caller),
    (now) => JSON.stringify(now) === JSON.stringify(expected),
  )

const calls = async (kind: string, scenario = 'caller-released'): Promise<Carrier> => {
  const caller = await Carrier.calls(gateway, { domain: `${kind}.test`, scenario, holdMs: 'manual' })
  await caller.talks('answered', callerTone)
  await hears(caller, greeting, question)
  return caller
}

/** Waits for the end of a call, and returns its record. */
const over = async (...carriers: readonly Carrier[]) => {
  for (const carrier of carriers) await carrier.done()
  await gateway.settled()
  const { call, code, by, q850, legs, recordings } = await gateway.record(carriers[0]?.callId)
  expect(gateway.log.filter((line) => line.call === call && line.level >= 40)).toEqual([])
  const endOf = ({ role, code, by, codec }: Record<string, unknown>) => [role, codec, code, by].join(' ')
  return {
    end: [code, by, q850].join(' '),
    legs: (legs as Record<string, unknown>[]).map(endOf),
    recordings: ((recordings ?? []) as { reason: string }[]).map(({ reason }) => reason),
  }
}

describe.each(['xml', 'script', 'flow', 'realtime'])('the IVR as %s', (kind) => {
  it('plays ringing tone while the desk rings, connects caller and desk, and continues after the desk hangs up', async () => {
    desk = await Carrier.listens({ scenario: 'callee-rings-hangs-up', holdMs: 'manual' })
    const caller = await calls(kind)
    caller.media.press('1')
    await hears(caller, greeting, question, ringing)
    await desk.goesOn()
    await desk.talks('invited', deskTone)
    await desk.hears(callerTone)
    await hears(caller, greeting, question, ringing, deskTone)
    caller.media.press('7')
    await desk.receivesDigits('7')
    await desk.goesOn()
    const record = await over(caller, desk)
    expect(heard(caller)).toEqual([greeting, question, ringing, deskTone, after])
    expect(record).toEqual({
      end: 'normal us 16',
      legs: ['caller PCMU normal us', 'callee PCMU normal far'],
      recordings: [],
    })
  })

  it('continues when the desk is busy', async () => {
    desk = await Carrier.listens({ scenario: 'callee-declines', values: { status: 486 } })
    const caller = await calls(kind)
    caller.media.press('1')
    const record = await over(caller, desk)
    // The ringing tone may or may not start before the rejection.
    expect(heard(caller).filter((tone) => tone !== ringing)).toEqual([greeting, question, after])
    expect(record).toEqual({
      end: 'normal us 16',
      legs: ['caller PCMU normal us', 'callee  busy far'],
      recordings: [],
    })
  })

  it('records a message until the caller presses a key', async () => {
    const caller = await calls(kind)
    caller.media.press('2')
    await hears(caller, greeting, question, leave, beep)
    await until(
      'it is recorded',
      () => gateway.metric('recordings'),
      (count) => count === 1,
    )
    const before = caller.media.sent
    await until('half a second is said', () => caller.media.sent - before >= 25)
    caller.media.press('#')
    const record = await over(caller)
    expect(heard(caller)).toEqual([greeting, question, leave, beep, thanks])
    expect(record).toEqual({
      end: 'normal us 16',
      legs: ['caller PCMU normal us'],
      recordings: ['terminator'],
    })
  })

  it('apologises for a wrong key and for no key, and says goodbye after the third failure', async () => {
    const caller = await calls(kind)
    caller.media.press('9')
    await hears(caller, greeting, question, sorry, question)
    await hears(caller, greeting, question, sorry, question, sorry, question)
    caller.media.press('5')
    const record = await over(caller)
    expect(heard(caller)).toEqual([greeting, question, sorry, question, sorry, question, goodbye])
    expect(record).toEqual({ end: 'normal us 16', legs: ['caller PCMU normal us'], recordings: [] })
  })

  it('ends when the caller hangs up in the menu', async () => {
    const caller = await calls(kind, 'call')
    await caller.goesOn()
    const record = await over(caller)
    expect(record).toEqual({ end: 'normal far 16', legs: ['caller PCMU normal far'], recordings: [] })
  })
})
