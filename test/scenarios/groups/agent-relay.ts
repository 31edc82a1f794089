import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sine } from '../../../media/codecs/tone.ts'
import type { AgentCall } from '../../support/agent-call.ts'
import type { AgentLane } from '../../support/agent-desk.ts'
import type { DocumentRequest } from '../../support/documents.ts'
import { RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'
import { wav } from '../../support/wav.ts'

/** Key of the gateway's project. */
export const signingKey = 'the-key-of-the-relay-0123456789'

let calls = 0

/** Conversations whose texts a server of the customer has, on real calls. */
export const agentRelay = (lane: () => AgentLane): void => {
  let server: RelayServer

  beforeAll(async () => {
    server = await RelayServer.open()
  })

  afterAll(() => server?.close())

  /** Calls a document with a relay, and returns the call with the path of its action. */
  const dial = async (attributes: string, { url = server.url, inside = '' } = {}) => {
    const action = `/relay-over/${++calls}`
    const next = lane().server.put(action, '<Response><Say>The session is over.</Say></Response>')
    const relay = `<ConversationRelay url="${url.replaceAll('&', '&amp;')}" transcriptionProvider="${lane().name}" ${attributes}>${inside}</ConversationRelay>`
    const document = `<Response><Connect action="${next}">${relay}</Connect></Response>`
    const call = await lane().call(lane().serves(document, 'xml'), `relay-${calls}`)
    return { call, action }
  }

  /** Waits for the request of the action, and returns its fields. */
  const result = async (action: string): Promise<DocumentRequest['fields']> => {
    const [first] = await until(
      'the action',
      () => lane().server.asked(action),
      ({ length }) => length > 0,
    )
    return first!.fields
  }

  const isOver = async (call: AgentCall) => {
    await call.speaks('the next document')
    await call.isOver()
  }

  describe('a conversation by a text server', { concurrent: true }, () => {
    const inOrder = { concurrent: false }

    it('greets, hands turns to the server, speaks its tokens, and ends with its data', inOrder, async () => {
      await lane().begin()
      const { call, action } = await dial('welcomeGreeting="Welcome to the shop." events="tokens-played"', {
        inside: '<Parameter name="order" value="42"/>',
      })
      const relay = await server.connected()
      const setup = await relay.gets('setup')
      expect(setup).toMatchObject({
        direction: 'inbound',
        callStatus: 'IN-PROGRESS',
        callType: 'SIP',
        customParameters: { order: '42' },
      })
      const { headers, url } = relay.request
      const signature = createHmac('sha1', signingKey).update(server.url).digest('base64')
      expect([url, headers['x-twilio-signature']]).toEqual(['/relay?line=1', signature])
      await call.hears('the greeting')
      expect(await relay.gets('info')).toMatchObject({ value: 'Welcome to the shop.' })
      await call.says('A pizza, please.')
      const prompt = await relay.gets('prompt')
      expect(prompt).toEqual({ type: 'prompt', voicePrompt: 'A pizza, please.', lang: 'en-US', last: true })
      call.mark()
      await relay.writes('Which size do you want? ')
      await call.hears('the answer')
      // A turn without an answer is none that failed: the next text is spoken.
      await call.says('A large one.')
      await relay.gets('prompt', ({ voicePrompt }) => voicePrompt === 'A large one.')
      await call.isSilent('no text comes, for longer than an engine may take', 6000)
      await relay.writes('It is in the oven.')
      await call.speaks('a text without a turn')
      relay.send({ type: 'end', handoffData: '{"size":"large"}' })
      const fields = await result(action)
      expect(fields).toMatchObject({
        SessionId: setup.sessionId,
        SessionStatus: 'ended',
        HandoffData: '{"size":"large"}',
        CallStatus: 'in-progress',
      })
      expect(Number(fields.SessionDuration)).toBeGreaterThan(5)
      expect(relay.of('info').map(({ value }) => value)).toContain('Which size do you want?')
      await until(
        'the connection is closed',
        () => relay.closed,
        (code) => code === 1000,
      )
      await isOver(call)
    })

    it('is interrupted by words, with the text that was heard, and by keys', inOrder, async () => {
      await lane().begin()
      const { call, action } = await dial('dtmfDetection="true" partialPrompts="true"')
      const relay = await server.connected()
      await relay.gets('setup')
      // Long enough for a busy machine: the caller speaks when it has spoken for a while.
      const count = `One apple, two pears, three plums, ${'four figs, five dates, six nuts, '.repeat(20)}and a kiwi.`
      relay.send({ type: 'text', token: count, last: true })
      await call.speaks('the list', 1500)
      await call.says('Stop it now.')
      const interrupt = await relay.gets('interrupt')
      expect(count.startsWith(String(interrupt.utteranceUntilInterrupt))).toBe(true)
      expect(String(interrupt.utteranceUntilInterrupt).length).toBeGreaterThan(8)
      expect(interrupt.durationUntilInterruptMs).toBeGreaterThan(1000)
      await relay.gets('prompt', ({ last, voicePrompt }) => last === true && voicePrompt === 'Stop it now.')
      expect(relay.of('prompt').some(({ last }) => last === false)).toBe(true)
      await call.isQuiet()
      await call.isSilent('the list is cut')
      relay.send({ type: 'text', token: count, last: true })
      await call.speaks('the list again', 800)
      call.peer.press('7')
      await until(
        'the second interruption',
        () => relay.of('interrupt').length,
        (found) => found === 2,
      )
      expect(await relay.gets('dtmf')).toEqual({ type: 'dtmf', digit: '7' })
      await call.hangUp()
      expect(await result(action)).toMatchObject({ SessionStatus: 'completed', CallStatus: 'completed' })
      await until(
        'the connection is closed',
        () => relay.closed,
        (code) => code === 1000,
      )
    })

    it('protects a text, and plays a sound until a text replaces it', inOrder, async () => {
      await lane().begin()
      const { call } = await dial('reportInputDuringAgentSpeech="speech"')
      const relay = await server.connected()
      await relay.gets('setup')
      const notice =
        'This call is recorded for the training of our staff, and nothing of it is given to others.'
      relay.send({ type: 'text', token: notice, last: true, interruptible: false })
      await call.speaks('the notice', 600)
      await call.says('I object.')
      await call.isSilent('the notice is over', 700)
      await relay.gets('prompt', ({ voicePrompt }) => voicePrompt === 'I object.')
      expect(relay.of('interrupt')).toEqual([])
      const tone = lane().server.put('/relay-tone.wav', wav(sine(700, 400, 8000, 8000), 8000))
      relay.send({ type: 'play', source: tone, loop: 0, preemptible: true })
      await call.speaks('the repeated sound', 2000)
      relay.send({ type: 'text', token: 'Here you are.', last: true })
      await call.isSilent('the text has replaced the sound')
      expect(relay.of('interrupt')).toEqual([])
      await call.hangUp()
    })

    it('talks with the text server of the stand-ins, which transfers', inOrder, async () => {
      await lane().begin(
        { when: 'begin', do: [{ say: 'Welcome to the stand-in.' }] },
        { when: { contains: ['human'], offers: ['transfer'] }, do: [{ say: 'One moment.' }, { call: true }] },
      )
      const { call, action } = await dial('', { url: `${lane().standIns.wsUrl}/relay` })
      await call.hears('the welcome of the stand-in')
      await call.says('A human, please.')
      const { HandoffData: data, SessionStatus: status } = await result(action)
      expect([status, JSON.parse(data ?? '')]).toEqual(['ended', { function: 'transfer', arguments: {} }])
      await isOver(call)
    })

    it('ends with 64107 after a message that cannot be understood', inOrder, async () => {
      await lane().begin()
      const { call, action } = await dial('')
      const relay = await server.connected()
      await relay.gets('setup')
      relay.send({ foo: 'bar' })
      expect(await relay.gets('error')).toMatchObject({
        description: expect.stringContaining('Invalid message received: type'),
      })
      expect(await result(action)).toMatchObject({ SessionStatus: 'failed', ErrorCode: '64107' })
      await isOver(call)
    })

    it('ends with 64105 if the server closes, and with 64102 if it is not permitted', inOrder, async () => {
      await lane().begin()
      const { call, action } = await dial('')
      const relay = await server.connected()
      await relay.gets('setup')
      relay.send({ type: 'text', token: 'The last words of the server.', last: true })
      await call.speaks('the last words', 200)
      relay.close()
      expect(await result(action)).toMatchObject({ SessionStatus: 'failed', ErrorCode: '64105' })
      await isOver(call)
      const refused = await dial('', { url: 'wss://192.168.0.1/relay' })
      expect(await result(refused.action)).toMatchObject({ SessionStatus: 'failed', ErrorCode: '64102' })
      await isOver(refused.call)
    })
  })
}
