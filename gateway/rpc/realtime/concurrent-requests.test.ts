import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import type { CallCollection, CollectResult, PlayEnd } from '../../../handlers/verbs.ts'
import { FakeClock } from '../../core/clock.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { ApplicationRegistry } from './application-registry.ts'
import { apiToken, RealtimeTestGateway, type TestApplication } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const tts = [{ type: 'tts', params: { text: 'Hello' } }]
const sip = { type: 'sip', params: { from: 'sip:me@demo', to: 'sip:you@carrier.example' } }

/** Requests that arrive in one piece. */
const atOnce = (application: TestApplication, requests: readonly (readonly [string, AnyFrame])[]) => {
  const { _socket: socket } = application.socket.socket as unknown as { readonly _socket: Socket }
  socket.cork()
  const answers = requests.map(([method, params]) => application.ask(method, params))
  socket.uncork()
  return Promise.all(answers)
}

const ended = (application: TestApplication) =>
  application.socket.frame((f) => ((f.params as AnyFrame)?.params as AnyFrame)?.call_state === 'ended')

it('operations that start while the call ends are over before the call', async () => {
  class AtOnce extends FakeCall {
    override async hangup(): Promise<void> {
      this.end()
    }
  }
  const { application } = await gateway.taken(new AtOnce())
  const [, played] = await atOnce(application, [
    ['calling.end', { call_id: 'c-1' }],
    ['calling.play', { call_id: 'c-1', control_id: 'k', play: tts }],
  ])
  expect(played).toMatchObject({ code: '200' })
  await ended(application)
  await application.ask('signalwire.ping')
  expect(application.story.slice(-2)).toEqual(['play error', 'state ended'])
})

it('a request that is repeated at once runs once', async () => {
  const { application, call } = await gateway.taken()
  const play = ['calling.play', { call_id: 'c-1', control_id: 'k', play: tts }] as const
  await atOnce(application, [play, play])
  expect(call.names).toEqual(['startPlay'])
})

it('a call runs one connect at a time', async () => {
  const call = new FakeCall()
  const { application } = await gateway.taken(call)
  call.during.set('connect', () => new Promise(() => {}))
  const connect = (tag: string) => ['calling.connect', { call_id: 'c-1', tag, devices: [[sip]] }] as const
  const [first, second] = await atOnce(application, [connect('a'), connect('b')])
  expect([first?.code, second?.code]).toEqual(['200', '409'])
  await application.ask('calling.play', { call_id: 'c-1', control_id: 'k', play: tts })
  expect(call.names).toEqual(['connect', 'startPlay'])
})

it('an operation can be stopped before it starts', async () => {
  const { application, call } = await gateway.taken()
  const device = { type: 'ws', params: { uri: 'ws://x' } }
  const answers = await atOnce(application, [
    ['calling.tap', { call_id: 'c-1', control_id: 'k', device }],
    ['calling.tap.stop', { call_id: 'c-1', control_id: 'k' }],
    ['calling.collect', { call_id: 'c-1', control_id: 'l', digits: { max: 1 } }],
    ['calling.collect.stop', { call_id: 'c-1', control_id: 'l' }],
  ])
  expect(answers.map(({ code }) => code)).toEqual(['200', '200', '200', '200'])
  await application.event('calling.call.collect')
  await application.ask('signalwire.ping')
  expect(application.story.filter((line) => line.endsWith('finished')).sort()).toEqual([
    'collect finished',
    'tap finished',
  ])
  expect(call.names).toEqual(['startStream'])
})

it('an application that passes a call no longer controls it', async () => {
  const first = await gateway.listener()
  const second = await gateway.listener()
  const { call } = gateway.arrives()
  await first.event('calling.call.receive')
  const [passed, answered] = await atOnce(first, [
    ['calling.pass', { call_id: 'c-1' }],
    ['calling.answer', { call_id: 'c-1' }],
  ])
  expect([passed?.code, answered?.code]).toEqual(['200', '404'])
  await second.event('calling.call.receive')
  expect(call.names).toEqual(['ring'])
})

it('the end of a prompt is reported before the end of the call', async () => {
  const playing = Promise.withResolvers<PlayEnd>()
  class Prompted extends FakeCall {
    override async startCollect(): Promise<CallCollection> {
      const { promise: result, reject } = Promise.withResolvers<CollectResult>()
      this.signal.addEventListener('abort', () => reject(new Error('the call is over')))
      const nothing = () => {}
      const ways = { pause: nothing, resume: nothing, stop: nothing, setVolume: nothing }
      const prompt = { id: 'p', ended: playing.promise, ...ways }
      return { id: 'i', result, startTimers: nothing, stop: nothing, prompt }
    }
  }
  const call = new Prompted()
  const { application, ask } = await gateway.taken(call)
  await ask('calling.play_and_collect', { control_id: 'k', play: tts, collect: { digits: { max: 1 } } })
  await application.event('calling.call.play')
  call.end()
  await application.ask('signalwire.ping')
  playing.resolve({ kind: 'stopped' })
  await ended(application)
  await application.ask('signalwire.ping')
  expect(application.story.slice(-4)).toEqual([
    'state ending',
    'play finished',
    'collect finished',
    'state ended',
  ])
})

it('dials count from their request on', async () => {
  const application = await gateway.listener()
  gateway.originate = () => new Promise(() => {})
  const dials = Array.from({ length: 60 }, (_, i) => {
    return ['calling.dial', { tag: `t${i}`, devices: [[sip]] }] as const
  })
  const answers = [...(await atOnce(application, dials)), ...(await atOnce(application, dials))]
  expect(answers.filter(({ code }) => code === '429')).toHaveLength(20)
  expect(gateway.originations).toHaveLength(100)
})

it('a project may dial a thousand devices in ten seconds, and fifty at once', async () => {
  const first = await gateway.listener()
  const second = await gateway.listener()
  const dial = (by: TestApplication, steps: number, together: number) => {
    const devices = Array.from({ length: steps }, () => Array.from({ length: together }, () => sip))
    return by.ask('calling.dial', { tag: 't', devices })
  }
  expect(await dial(first, 3, 17)).toMatchObject({ code: '400' })
  for (let i = 0; i < 20; i++) expect(await dial(first, 5, 10)).toMatchObject({ code: '200' })
  expect(await dial(second, 1, 1)).toMatchObject({ code: '429' })
  gateway.clock.advance(10_000)
  expect(await dial(second, 1, 1)).toMatchObject({ code: '200' })
})

it('a connection stays one application after repeated sign-ins', async () => {
  const application = await gateway.listener()
  const first = await application.connect(['sales'])
  const second = await application.connect(['sales'])
  expect(second.protocol).toBe(first.protocol)
  expect(gateway.dialect.applications).toBe(1)
  gateway.arrives()
  await application.event('calling.call.receive')
})

it('an application that signs in again receives no event twice', async () => {
  const application = await gateway.listener()
  application.socket.acknowledges = false
  const { call } = gateway.arrives()
  await application.event('calling.call.receive')
  call.end()
  await application.connect(['office'])
  await application.ask('signalwire.ping')
  expect(application.story).toEqual(['receive created', 'state ending', 'state ended'])
})

it('beyond ten thousand applications, the one that was lost first is removed', () => {
  const registry = new ApplicationRegistry('n', new FakeClock(), 30_000, () => {})
  const made = Array.from({ length: 10_001 }, () =>
    registry.create({ projectId: 'demo', agent: '', isAcknowledging: true }),
  )
  const [first, second, ...others] = made
  for (const application of [first!, second!, ...others.slice(0, -1)]) registry.add(application)
  registry.socketLost(second!)
  registry.socketLost(first!)
  registry.add(made.at(-1)!)
  expect(registry.size).toBe(10_000)
  expect(registry.find(second!.protocol)).toBeUndefined()
  expect(registry.find(first!.protocol)).toBe(first)
  registry.close()
})

it('fields of any type are rejected without an internal error', async () => {
  const { ask } = await gateway.taken()
  const odd = { toString: 1, valueOf: 1 }
  for (const value of [odd, 7, '', [odd], null])
    expect(await ask('calling.collect', { control_id: 'k', speech: { hints: [value] } })).toMatchObject({
      code: '400',
    })
})

it('values that events repeat have a maximum length', async () => {
  const { ask } = await gateway.taken()
  const long = 'x'.repeat(16_384)
  const headers = [{ name: 'X-A', value: long }]
  const device = { type: 'sip', params: { ...sip.params, headers } }
  const ws = { type: 'ws', params: { uri: 'ws://x', more: long } }
  for (const [method, params, field] of [
    ['calling.record', { control_id: 'k', record: { audio: {}, more: long } }, 'record'],
    ['calling.tap', { control_id: 'k', device: ws }, 'device'],
    ['calling.connect', { tag: 't', devices: [[device]] }, 'devices[0][0]'],
  ] as const) {
    const answer = await ask(method, params)
    expect(answer).toMatchObject({ code: '400', message: expect.stringContaining(field) })
  }
})

it('repeated collecting does not loop', async () => {
  const { ask, call } = await gateway.taken()
  await ask('calling.collect', { control_id: 'k', digits: {}, continuous: true, initial_timeout: 0 })
  expect(call.verbs.at(-1)?.[1]).toMatchObject({ initialTimeoutMs: 1000 })
})

it('repeated collecting gives way to the next collect', async () => {
  const { ask, call, application } = await gateway.taken()
  call.collects.push({ reason: 'stopped', digits: '' })
  await ask('calling.collect', { control_id: 'k', digits: {}, continuous: true })
  await application.event('calling.call.collect')
  await ask('signalwire.ping')
  expect(call.names).toEqual(['startCollect'])
  expect(application.story.at(-1)).toBe('collect finished')
})

it('wrong tokens do not fill the log', async () => {
  const authentication = { project: 'demo', token: `${apiToken}x` }
  for (let i = 0; i < 40; i++) await (await gateway.application()).connect([], { authentication })
  const warnings = gateway.lines.filter((line) => line.includes('"level":40'))
  expect(warnings).toHaveLength(30)
})
