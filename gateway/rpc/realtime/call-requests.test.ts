import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import { VerbFailed } from '../../../handlers/verbs.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { RealtimeTestGateway } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const v3 = { agent: '@signalwire/nodejs/realtime-api/3.13.0', event_acks: undefined }
const tts = [{ type: 'tts', params: { text: 'Hello' } }]

describe('every request', () => {
  it('is rejected with the name of the invalid field', async () => {
    const { ask } = await gateway.taken()
    const bad: [string, AnyFrame, string][] = [
      ['play', { play: tts }, 'control_id'],
      ['play', { control_id: 'k', play: [] }, 'play'],
      ['play', { control_id: 'k', play: [{ type: 'mime' }] }, 'play[0].type'],
      ['play', { control_id: 'k', play: [{ type: 'tts', params: {} }] }, 'play[0].params.text'],
      ['play', { control_id: 'k', play: tts, volume: 41 }, 'volume'],
      ['play', { control_id: 'k', play: [{ type: 'silence', params: { duration: 'x' } }] }, 'duration'],
      ['record', { control_id: 'k', record: { audio: { format: 'ogg' } } }, 'record.audio.format'],
      ['collect', { control_id: 'k' }, 'digits'],
      ['collect', { control_id: 'k', digits: { max: 0 } }, 'digits.max'],
      ['collect', { control_id: 'k', digits: { max: 1.5 } }, 'digits.max'],
      ['play_and_collect', { control_id: 'k', play: tts }, 'collect'],
      ['detect', { control_id: 'k', detect: { type: 'cat' } }, 'detect.type'],
      ['tap', { control_id: 'k', device: { type: 'rtp', params: { addr: '10.0.0.1' } } }, 'port'],
      ['send_digits', { control_id: 'k', digits: '1x' }, 'digits'],
      ['connect', { tag: 't', devices: [] }, 'devices'],
      ['connect', { tag: 't', devices: [[{ type: 'fax', params: {} }]] }, 'devices[0][0].type'],
      ['connect', { tag: 't', devices: [[{ type: 'sip', params: { from: 'sip:a@b' } }]] }, 'params.to'],
      ['refer', { control_id: 'k' }, 'device'],
      ['user_event', { event: 'x' }, 'event'],
    ]
    for (const [verb, params, field] of bad) {
      const answer = await ask(`calling.${verb}`, params)
      expect([verb, answer.code], JSON.stringify(answer)).toEqual([verb, '400'])
      expect(answer.message).toContain(field)
    }
  })

  it('is rejected for an unknown call or operation', async () => {
    const { ask, application } = await gateway.taken()
    expect(await ask('calling.play.stop', { control_id: 'k' })).toMatchObject({ code: '404' })
    expect(await ask('calling.disconnect')).toMatchObject({ code: '409' })
    expect(await application.ask('calling.answer', { call_id: 'c-7' })).toMatchObject({ code: '404' })
  })

  it('returns the code of a verb that fails at once', async () => {
    const call = new FakeCall()
    const { ask } = await gateway.taken(call)
    call.failing.set('hold', new VerbFailed('no_audio', 'nothing to hold'))
    expect(await ask('calling.hold')).toEqual({ code: '409', message: 'no_audio: nothing to hold' })
    expect(await ask('calling.unhold')).toMatchObject({ code: '200' })
    expect(await ask('calling.user_event', { event: { a: 1 } })).toMatchObject({ code: '200' })
    expect(call.verbs).toContainEqual(['sendUserEvent', { a: 1 }])
  })

  it('that is repeated under the same id runs once', async () => {
    const { ask, call } = await gateway.taken()
    for (let i = 0; i < 2; i++)
      expect(await ask('calling.play', { control_id: 'k', play: tts })).toMatchObject({ code: '200' })
    expect(call.names).toEqual(['startPlay'])
  })

  it('is rejected while fifty operations run', async () => {
    const { ask } = await gateway.taken()
    for (let i = 0; i < 50; i++) await ask('calling.record', { control_id: `k${i}` })
    expect(await ask('calling.record', { control_id: 'one more' })).toMatchObject({ code: '429' })
  })
})

describe('the end of a call', () => {
  it('follows the end of every operation', async () => {
    const { ask, application, call } = await gateway.taken(new FakeCall(), v3)
    const never = Promise.withResolvers<never>()
    call.signal.addEventListener('abort', () => never.reject(new Error('the call is over')))
    never.promise.catch(() => {})
    for (const verb of ['detect', 'connect', 'sendDigits']) call.during.set(verb, () => never.promise)
    await ask('calling.play', { control_id: 'a', play: tts })
    await ask('calling.record', { control_id: 'b' })
    await ask('calling.collect', { control_id: 'c', digits: { max: 1 } })
    await ask('calling.detect', { control_id: 'd', detect: { type: 'fax', params: {} } })
    const device = { type: 'ws', params: { uri: 'ws://x' } }
    await ask('calling.tap', { control_id: 'e', device })
    await ask('calling.send_digits', { control_id: 'f', digits: '1' })
    const to = { type: 'phone', params: { from_number: '+1', to_number: '+2' } }
    await ask('calling.connect', { tag: 't', devices: [[to]] })
    call.end()
    await application.socket.frame(
      (f) => ((f.params as AnyFrame)?.params as AnyFrame)?.call_state === 'ended',
    )
    const story = application.story
    const end = story.slice(story.indexOf('state ending') + 1)
    expect(end.at(-1)).toBe('state ended')
    expect(end.slice(0, -1).sort()).toEqual([
      'collect finished',
      'connect failed',
      'detect finished',
      'play finished',
      'record finished',
      'send_digits failed',
      'tap finished',
    ])
    expect(gateway.dialect.calls).toBe(0)
  })
})
