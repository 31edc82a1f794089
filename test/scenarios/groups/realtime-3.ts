import { createRequire } from 'node:module'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
// The package does not say where its types are.
import type * as Sdk from '../../../node_modules/realtime-api-3/dist/realtime-api/src/index.d.ts'
import { Carrier, type IncomingOptions } from '../../support/carrier.ts'
import { CutLine } from '../../support/cut-line.ts'
import type { Gateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'

const { Voice } = createRequire(import.meta.url)('realtime-api-3') as typeof Sdk
const apiToken = 'token-of-the-scenario'
const tone = 440

let gateway: Gateway

/** A client, and the calls that it receives, in order. */
const clientOf = async (contexts: string[], port = gateway.httpPort) => {
  const client = new Voice.Client({
    project: 'default',
    token: apiToken,
    contexts,
    host: `ws://127.0.0.1:${port}`,
    logLevel: 'silent',
  })
  onTestFinished(() => client.disconnect())
  const calls: Sdk.Voice.Call[] = []
  const before = connected()
  client.on('call.received', (call) => void calls.push(call))
  await until('the client is connected', () => connected() > before)
  const next = () => until('a call is received', () => calls.shift()) as Promise<Sdk.Voice.Call>
  return { client, next }
}

const connected = (): number => gateway.log.filter(({ msg }) => msg === 'application connected').length

/** A call that the application has answered; the far side talks. */
const answered = async (
  scenario = 'caller-released',
  holdMs: IncomingOptions['holdMs'] = 0,
  port?: number,
) => {
  const { client, next } = await clientOf(['office'], port)
  const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario, holdMs })
  const call = await next()
  await call.answer()
  await carrier.talks('answered', tone)
  return { client, call, carrier }
}

/** The published realtime client 3.13.0, unmodified, as a customer's application. */
export const realtime3 = (opened: () => Gateway): void => {
  describe('the published client 3.13', () => {
    beforeAll(() => {
      gateway = opened()
    })

    describe('an inbound call', () => {
      it('is reported, answered, spoken to and hung up', async () => {
        const { client, next } = await clientOf(['sales'])
        await client.addContexts(['office'])
        const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario: 'caller-released' })
        const call = await next()
        expect([call.from, call.to]).toEqual([
          'sip:+15551230001@carrier.test',
          'sip:+15550002222@office.test',
        ])
        await call.answer()
        await carrier.talks('answered', tone)
        const playback = await call.playTTS({ text: 'Welcome to the office.' })
        await carrier.hearsVoice()
        expect((await playback.ended()).state).toBe('finished')
        await call.hangup()
        await carrier.done()
      })

      it('is not offered to a client that has removed its context', async () => {
        const { client } = await clientOf(['office'])
        await client.removeContexts(['office'])
        const carrier = await Carrier.calls(gateway, {
          domain: 'office.test',
          scenario: 'caller-refused',
          values: { status: 480 },
        })
        await carrier.done()
      })

      it('settles every promise when the far side hangs up', async () => {
        const { call, carrier } = await answered('caller', 'manual')
        const playback = await call.playTTS({
          text: 'one two three four five six seven eight nine. '.repeat(4),
        })
        const recording = await call.recordAudio({ endSilenceTimeout: 0 })
        await carrier.hearsVoice()
        await carrier.goesOn()
        const [played, recorded] = await Promise.all([playback.ended(), recording.ended()])
        expect([played.state, recorded.state]).toEqual(['finished', 'finished'])
        await carrier.done()
      })
    })

    describe('an answered call', () => {
      it('collects digits, and reports no_input for silence', async () => {
        const { call, carrier } = await answered()
        const prompt = await call.promptTTS({
          text: 'Your number please.',
          digits: { max: 4, terminators: '#' },
        })
        await carrier.hearsVoice()
        carrier.media.press('12#')
        const { type, digits } = await prompt.ended()
        expect([type, digits]).toEqual(['digit', '12'])
        const collect = await call.collect({
          digits: { max: 2 },
          initialTimeout: 0.5,
          startInputTimers: true,
        })
        expect((await collect.ended()).type).toBe('no_input')
        await call.hangup()
        await carrier.done()
      })

      it('reports an error for a sound that does not exist', async () => {
        const { call, carrier } = await answered()
        const playback = await call.playAudio({ url: `${gateway.url}/nothing.wav` })
        expect((await playback.ended()).state).toBe('error')
        await call.hangup()
        await carrier.done()
      })

      it('can be recorded until the recording is stopped', async () => {
        const { call, carrier } = await answered()
        const recording = await call.recordAudio({ endSilenceTimeout: 0 })
        const silence = await call.playSilence({ duration: 0.3 })
        await silence.ended()
        await recording.stop()
        const { state, url } = await recording.ended()
        expect(state).toBe('finished')
        expect((await fetch(url!)).status).toBe(200)
        await call.hangup()
        await carrier.done()
      })

      it('can be connected to a third party', async () => {
        const { call, carrier } = await answered()
        const callee = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual' })
        const peer = await call.connectSip({ from: 'sip:me@office.test', to: callee.uri, timeout: 10 })
        await callee.talks('invited', 700)
        await carrier.hears(700)
        expect(peer.id).not.toBe(call.id)
        await callee.goesOn()
        await callee.done()
        await call.hangup()
        await carrier.done()
      })
    })

    describe('an outbound call of the application', () => {
      it('resolves with a call when the callee answers', async () => {
        const { client } = await clientOf([])
        const carrier = await Carrier.listens({ scenario: 'callee' })
        const call = await client.dialSip({ from: 'sip:me@office.test', to: carrier.uri, timeout: 10 })
        await carrier.talks('invited', tone)
        await call.sendDigits('42')
        await carrier.receivesDigits('42')
        await call.hangup()
        await carrier.done()
      })

      it('rejects with the reason when the callee is busy', async () => {
        const { client } = await clientOf([])
        const busy = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 } })
        const dialling = client.dialSip({ from: 'sip:me@office.test', to: busy.uri })
        await expect(dialling).rejects.toMatchObject({ dialState: 'failed', reason: 'busy' })
        await busy.done()
      })
    })

    it('the client reconnects after a lost connection, and the call continues', async () => {
      const line = await CutLine.to(gateway.httpPort)
      const { call, carrier } = await answered('caller-released', 0, line.port)
      const before = connected()
      line.cut()
      await until('the client is connected again', () => connected() > before)
      const playback = await call.playTTS({ text: 'Still here.' })
      expect((await playback.ended()).state).toBe('finished')
      await call.hangup()
      await carrier.done()
    })
  })
}
