/** The caller hangs up while a realtime application is busy: every promise settles, and nothing is left. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TestStreamServer } from '../../gateway/streams/testing/stream-server.ts'
import { sine } from '../../media/codecs/tone.ts'
import { type Call, type RealtimeClient, SignalWire } from '../../realtime/src/index.ts'
import { application } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'

const account = { project: 'default', token: 'token-of-the-scenario' }
const callerTone = 440
const chime = 700
const otherTone = 1000

let gateway: Gateway
let server: DocumentServer
let streams: TestStreamServer
let client: RealtimeClient
const received: Call[] = []

beforeAll(async () => {
  server = await DocumentServer.open()
  streams = await TestStreamServer.open()
  server.put('/chime.wav', wav(sine(chime, 20_000, 8000, 8000), 8000))
  gateway = await Gateway.start({
    domains: [application('office.test', { kind: 'realtime', topic: 'office' })],
    http: { apiToken: account.token },
  })
  client = await SignalWire({ ...account, host: `ws://127.0.0.1:${gateway.httpPort}` })
  await client.voice.listen({ topics: ['office'], onCallReceived: (call) => void received.push(call) })
})

afterAll(async () => {
  await client?.disconnect()
  await gateway?.stop()
  await server?.close()
  await streams?.close()
})

/**
 * Activity of the application, and the moment at which the caller hangs up. Other parties end by themselves.
 */
interface Doing {
  readonly begin: (call: Call) => PromiseLike<unknown>
  readonly moment: (caller: Carrier) => Promise<unknown>
  readonly others?: readonly Carrier[]
}

const chimes = { moment: (caller: Carrier) => caller.hears(chime) }
const gauge = (name: 'recordings' | 'media_detections' | 'verbs') => () =>
  until(
    `${name} is 1`,
    () => gateway.metric(name),
    (count) => count === 1,
  )
const url = () => server.urlOf('/chime.wav')

const doings: Readonly<Record<string, () => Doing | Promise<Doing>>> = {
  play: () => ({ ...chimes, begin: (call) => call.playAudio({ url: url() }) }),
  prompt: () => ({ ...chimes, begin: (call) => call.promptAudio({ url: url(), digits: { max: 4 } }) }),
  collect: () => ({
    begin: (call) => call.collect({ initialTimeout: 60, digits: { max: 4 } }),
    moment: gauge('verbs'),
  }),
  record: () => ({
    begin: (call) => call.record({ initialTimeout: 0, endSilenceTimeout: 0 }),
    moment: gauge('recordings'),
  }),
  detect: () => ({
    begin: (call) => call.detect({ type: 'fax', timeout: 60 }),
    moment: gauge('media_detections'),
  }),
  tap: () => ({
    begin: (call) => call.tap({ device: { type: 'ws', uri: streams.url } }),
    moment: () => until('it is tapped', () => streams.messages.length > 5),
  }),
  'send digits': () => ({
    begin: (call) => call.sendDigits('1WWWWWWWWWWWWWWWWWWWW2'),
    moment: (caller) => caller.receivesDigits('1'),
  }),
  'connect, while the callee rings': async () => {
    const callee = await Carrier.listens({ scenario: 'callee-cancelled' })
    return {
      others: [callee],
      begin: (call) => call.connectSip({ from: call.from, to: callee.uri }),
      moment: () => callee.sipp.event('invited'),
    }
  },
  'connect, while both talk': async () => {
    const callee = await Carrier.listens({ scenario: 'callee-takes' })
    return {
      others: [callee],
      begin: async (call) => (await call.connectSip({ from: call.from, to: callee.uri })).waitFor('ended'),
      moment: async (caller) => {
        await callee.talks('invited', otherTone)
        await caller.hears(otherTone)
        await callee.hears(callerTone)
      },
    }
  },
}

it.each(Object.entries(doings))(
  'the caller hangs up during %s: every promise of the application settles',
  async (_, doing) => {
    const { begin, moment, others = [] } = await doing()
    const caller = await Carrier.calls(gateway, { domain: 'office.test', scenario: 'call', holdMs: 'manual' })
    const call = (await until('the call is received', () => received.shift())) as Call
    await call.answer()
    await caller.talks('answered', callerTone)
    let settled = false
    const done = Promise.resolve(begin(call)).then(
      () => {
        settled = true
      },
      () => {
        settled = true
      },
    )
    await moment(caller)
    expect(settled).toBe(false)
    await caller.goesOn()
    await done
    await until('the call has ended', () => call.state === 'ended')
    for (const carrier of [caller, ...others]) await carrier.done()
    await gateway.settled()
    await until(
      'no application controls the call',
      () => gateway.metric('application_calls'),
      (count) => count === 0,
    )
    const { call: id, code, by } = await gateway.record(caller.callId)
    expect([code, by]).toEqual(['normal', 'far'])
    const lines = gateway.log.filter((line) => line.call === id)
    expect(lines.filter(({ msg }) => msg === 'call ended')).toHaveLength(1)
    expect(lines.filter(({ level }) => level >= 40)).toEqual([])
  },
)
