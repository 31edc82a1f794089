import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Call, type RealtimeClient, SignalWire, Voice } from '../../../realtime/src/index.ts'
import { Carrier } from '../../support/carrier.ts'
import { CutLine } from '../../support/cut-line.ts'
import type { Gateway } from '../../support/gateway.ts'

const account = { project: 'default', token: 'token-of-the-scenario' }
const tone = 440

let gateway: Gateway

const connect = async (port = gateway.httpPort): Promise<RealtimeClient> => {
  const client = await SignalWire({ ...account, host: `ws://127.0.0.1:${port}` })
  onTestFinished(() => client.disconnect())
  return client
}

/** Receives and answers a call, whose far side sends a tone. */
const answered = async (port?: number) => {
  const client = await connect(port)
  const { promise, resolve } = Promise.withResolvers<Call>()
  await client.voice.listen({ topics: ['office'], onCallReceived: resolve })
  const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario: 'caller-released' })
  const call = await promise
  await call.answer()
  await carrier.talks('answered', tone)
  return { call, carrier }
}

/** The gateway's own realtime client, both constructors, as a customer's application. */
export const realtimeOwn = (opened: () => Gateway): void => {
  describe('the gateway’s own client', () => {
    beforeAll(() => {
      gateway = opened()
    })

    it('the current API answers a call, collects digits, records and hangs up', async () => {
      const { call, carrier } = await answered()
      expect([call.from, call.to]).toEqual(['sip:+15551230001@carrier.test', 'sip:+15550002222@office.test'])
      const recording = call.record({ endSilenceTimeout: 0, initialTimeout: 0, terminators: '' })
      await recording.started
      const prompting = call.promptTTS({ text: 'Your number please.', digits: { max: 2 } })
      await carrier.hearsVoice()
      carrier.media.press('42')
      expect(await prompting).toMatchObject({ type: 'digits', digits: '42' })
      await call.playTTS({ text: 'Thank you.' })
      await call.hangup()
      const { url, duration } = await recording
      expect(duration).toBeGreaterThan(0.5)
      expect((await fetch(url)).status).toBe(200)
      await carrier.done()
    })

    it('the older API answers a call and speaks', async () => {
      const host = `ws://127.0.0.1:${gateway.httpPort}`
      const client = new Voice.Client({ ...account, host, contexts: ['office'] })
      onTestFinished(() => client.disconnect())
      const over = Promise.withResolvers<void>()
      client.on('call.received', async (call) => {
        await call.answer()
        await call.playTTS({ text: 'Welcome to the office.' })
        await call.hangup()
        over.resolve()
      })
      // Resolves when the client is connected.
      await client.addContexts(['office'])
      const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario: 'caller-released' })
      await carrier.talks('answered', tone)
      await carrier.hearsVoice()
      await over.promise
      await carrier.done()
    })

    it('a call can be connected to a third party and disconnected again', async () => {
      const { call, carrier } = await answered()
      const callee = await Carrier.listens({ scenario: 'callee' })
      const peer = await call.connectSip({ from: 'sip:me@office.test', to: callee.uri, timeout: 10 })
      await callee.talks('invited', 700)
      await carrier.hears(700)
      expect(peer.state).toBe('answered')
      await call.disconnect()
      await callee.done()
      await call.hangup()
      await carrier.done()
    })

    it('an outbound call resolves when answered, and rejects with noAnswer after its timeout', async () => {
      const { voice } = await connect()
      const carrier = await Carrier.listens({ scenario: 'callee' })
      const call = await voice.dialSip({ from: 'sip:me@office.test', to: carrier.uri, timeout: 10 })
      await carrier.talks('invited', tone)
      await call.sendDigits('12')
      await carrier.receivesDigits('12')
      await call.hangup()
      await carrier.done()
      const silent = await Carrier.listens({ scenario: 'callee-silent' })
      const dialling = voice.dialSip({ from: 'sip:me@office.test', to: silent.uri, timeout: 1 })
      await expect(dialling).rejects.toMatchObject({ code: 'noAnswer' })
      await silent.done()
    })

    it('a call continues after the client’s connection was lost', async () => {
      const line = await CutLine.to(gateway.httpPort)
      const { call, carrier } = await answered(line.port)
      line.cut()
      await call.playTTS({ text: 'Still here.' }).catch(() => call.playTTS({ text: 'Still here.' }))
      await call.hangup()
      await carrier.done()
    })
  })
}
