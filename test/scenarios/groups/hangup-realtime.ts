import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestStreamServer } from '../../../gateway/streams/testing/stream-server.ts'
import { sine } from '../../../media/codecs/tone.ts'
import { type Call, type RealtimeClient, SignalWire } from '../../../realtime/src/index.ts'
import { Carrier } from '../../support/carrier.ts'
import type { Hangups } from '../../support/hangups.ts'
import { apiToken } from '../../support/recorded.ts'
import { until } from '../../support/until.ts'
import { wav } from '../../support/wav.ts'

const callerTone = 440
const chime = 700
const otherTone = 1000

/**
 * Activity of the application, and the moment at which the caller hangs up. Other parties end by themselves.
 */
interface Doing {
  readonly begin: (call: Call) => PromiseLike<unknown>
  readonly moment: (caller: Carrier) => Promise<unknown>
  readonly others?: readonly Carrier[]
}

const chimes = { moment: (caller: Carrier) => caller.hears(chime) }

const doingsOn = (
  stage: Hangups,
  streams: TestStreamServer,
): Readonly<Record<string, () => Doing | Promise<Doing>>> => ({
  play: () => ({
    ...chimes,
    begin: (call) => call.playAudio({ url: stage.server.urlOf('/long-chime.wav') }),
  }),
  prompt: () => ({
    ...chimes,
    begin: (call) => call.promptAudio({ url: stage.server.urlOf('/long-chime.wav'), digits: { max: 4 } }),
  }),
  collect: () => ({
    begin: (call) => call.collect({ initialTimeout: 60, digits: { max: 4 } }),
    moment: () => stage.reaches('verbs'),
  }),
  record: () => ({
    begin: (call) => call.record({ initialTimeout: 0, endSilenceTimeout: 0 }),
    moment: () => stage.reaches('recordings'),
  }),
  detect: () => ({
    begin: (call) => call.detect({ type: 'fax', timeout: 60 }),
    moment: () => stage.reaches('media_detections'),
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
})

/** The caller hangs up while a realtime application is busy: every promise settles, and nothing is left. */
export const realtimeHangups = (stage: Hangups, streams: TestStreamServer): void => {
  describe('a realtime application', () => {
    let client: RealtimeClient
    const received: Call[] = []

    beforeAll(async () => {
      stage.server.put('/long-chime.wav', wav(sine(chime, 20_000, 8000, 8000), 8000))
      const host = `ws://127.0.0.1:${stage.gateway.httpPort}`
      client = await SignalWire({ project: 'default', token: apiToken, host })
      await client.voice.listen({ topics: ['office'], onCallReceived: (call) => void received.push(call) })
    })

    afterAll(() => client?.disconnect())

    it.each(Object.entries(doingsOn(stage, streams)))(
      'the caller hangs up during %s: every promise of the application settles',
      async (_, doing) => {
        const { begin, moment, others = [] } = await doing()
        const caller = await Carrier.calls(stage.gateway, {
          domain: 'office.test',
          scenario: 'call',
          holdMs: 'manual',
        })
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
        await stage.gateway.settled()
        await until(
          'no application controls the call',
          () => stage.gateway.metric('application_calls'),
          (count) => count === 0,
        )
        const { call: id, code, by } = await stage.gateway.record(caller.callId)
        expect([code, by]).toEqual(['normal', 'far'])
        const lines = stage.gateway.log.filter((line) => line.call === id)
        expect(lines.filter(({ msg }) => msg === 'call ended')).toHaveLength(1)
        expect(lines.filter(({ level }) => level >= 40)).toEqual([])
      },
    )
  })
}
