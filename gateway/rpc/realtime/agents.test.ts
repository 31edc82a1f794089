import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FakeAgent } from '../../../handlers/testing/fake-agent.ts'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import { VerbFailed } from '../../../handlers/verbs.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import {
  apiToken,
  nextOf,
  RealtimeTestGateway,
  type TestApplication,
} from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

/** Client that can start agents. */
const aware = { agent: 'signalwire-python' }
const prompt = { text: 'Help.' }

/** Returns a call whose agent does as a function says; without one it stays. */
const talking = (drive: (agent: FakeAgent) => unknown = () => {}) => {
  const call = new FakeCall()
  call.talks.push(drive)
  return gateway.taken(call, aware)
}

/** Returns the events of the operation up to its end. */
const eventsOf = async (application: TestApplication): Promise<AnyFrame[]> => {
  const events: AnyFrame[] = []
  do events.push(await nextOf(application, 'ai'))
  while (!['finished', 'error'].includes(String(events.at(-1)?.state)))
  return events
}

describe('ai', () => {
  it('hands the call to the agent of the request, and reports its end', async () => {
    const { ask, application, call } = await talking((agent) => agent.end({ kind: 'inactive' }))
    const params = { end_of_speech_timeout: 900 }
    expect(
      await ask('calling.ai', { control_id: 'k', node_id: 'node-1', prompt, params, global_data: { a: 1 } }),
    ).toEqual({ code: '200', message: 'OK', call_id: 'c-1', node_id: 'node-1', control_id: 'k' })
    expect((await eventsOf(application)).at(-1)).toEqual({ state: 'finished' })
    expect(call.agents[0]?.options).toMatchObject({ prompt: 'Help.', turns: { endOfSpeechMs: 900 } })
    expect(gateway.context.warnings).toEqual([])
  })

  it('runs functions, and the scripts of their actions', async () => {
    let text = ''
    const main = [{ play: { url: 'say:Paid' } }, { set: { ai_response: 'The caller paid.' } }]
    gateway.context.documents['https://x.example/swaig'] = JSON.stringify({
      action: [{ SWML: { sections: { main } } }],
    })
    const { ask, application, call } = await talking(async (agent) => {
      text = (await agent.call('go')).text
      agent.end({ kind: 'inactive' })
    })
    const functions = [{ function: 'go', description: 'Goes.', web_hook_url: 'https://x.example/swaig' }]
    await ask('calling.ai', { control_id: 'k', prompt, SWAIG: { functions } })
    expect((await eventsOf(application)).at(-1)).toEqual({ state: 'finished' })
    expect(text).toBe('The caller paid.')
    expect(call.names).toEqual(['startAgent', 'play'])
  })

  it('is stopped by its id', async () => {
    const { ask, application, call } = await talking()
    await ask('calling.ai', { control_id: 'k', prompt })
    await expect.poll(() => call.agents.length).toBe(1)
    expect(await ask('calling.ai.stop', { control_id: 'other' })).toMatchObject({ code: '404' })
    expect(call.agents[0]?.options.signal?.aborted).toBe(false)
    expect(await ask('calling.ai.stop', { control_id: 'k' })).toMatchObject({ code: '200' })
    expect(call.agents[0]?.options.signal?.aborted).toBe(true)
    call.agents[0]?.end({ kind: 'stopped' })
    expect((await eventsOf(application)).at(-1)).toEqual({ state: 'finished' })
  })

  it('ends before the call does', async () => {
    const { ask, application, call } = await talking()
    await ask('calling.ai', { control_id: 'k', prompt })
    await expect.poll(() => call.agents.length).toBe(1)
    call.end()
    await application.event('calling.call.ai')
    await expect
      .poll(() => application.story.slice(-4))
      .toEqual(['state ending', 'ai stop', 'ai finished', 'state ended'])
  })

  it('reports a failure with its code', async () => {
    const { ask, application, call } = await talking()
    call.failing.set('startAgent', new VerbFailed('agents_unavailable', 'No engine.'))
    await ask('calling.ai', { control_id: 'k', prompt })
    expect(await nextOf(application, 'ai')).toEqual({ state: 'error', error: 'agents_unavailable' })
  })

  it('is refused without a prompt, or by a name', async () => {
    const { ask } = await talking()
    expect(await ask('calling.ai', { control_id: 'k' })).toEqual({
      code: '400',
      message: 'prompt: must be an object with text, pom or contexts',
    })
    expect(await ask('calling.ai', { control_id: 'k', agent: 'sales', prompt })).toMatchObject({
      code: '422',
    })
  })
})

describe('the transcript of an agent', () => {
  it('has the words of both sides, as they are said, and functions', async () => {
    const { ask, application, call } = await talking(async (agent) => {
      agent.emit({ kind: 'started', engine: 'e' })
      agent.emit({ kind: 'partial', text: 'Book', isBarge: false })
      agent.hear('Book two.')
      await agent.call('book', { guests: 2 })
      agent.emit({ kind: 'utterance', text: 'Done.', answer: 'a' })
      agent.speak('Done.')
      agent.end({ kind: 'inactive' })
    })
    await ask('calling.ai', { control_id: 'k', prompt, params: { redact_prompt: true } })
    const booking = { function: 'book', arguments: '{"guests":2}', duration_ms: 5, outcome: 'finished' }
    const said: AnyFrame[] = [
      { state: 'start', result: {} },
      { state: 'partial_result', result: { text: 'Book', barged: false } },
      { state: 'speech_detect', result: { text: 'Book two.', type: 'normal' } },
      { state: 'function_call', result: booking },
      { state: 'response_utterance', result: { utterance: '' } },
      { state: 'response_utterance', result: { utterance: 'Done.' } },
      { state: 'completion', result: { text: 'Done.', type: 'normal' } },
      { state: 'stop', result: { reason: 'inactive' } },
    ]
    expect(await eventsOf(application)).toEqual([...said, { state: 'finished' }])
    expect(JSON.stringify(application.socket.requests)).not.toContain('Help.')
    // The caller of a telephone has no browser.
    expect(call.names).toEqual(['startAgent'])
  })

  it('goes on with the agent of a script that the first one leaves for', async () => {
    const main = [{ ai: { prompt } }]
    gateway.context.documents['https://x.example/swaig'] = JSON.stringify({
      action: [{ transfer: true, SWML: { sections: { main } } }],
    })
    const { ask, application, call } = await talking((agent) => agent.call('go'))
    call.talks.push((agent) => {
      agent.hear('Another one?')
      agent.end({ kind: 'inactive' })
    })
    const functions = [{ function: 'go', description: 'Goes.', web_hook_url: 'https://x.example/swaig' }]
    await ask('calling.ai', { control_id: 'k', prompt, SWAIG: { functions } })
    const states = (await eventsOf(application)).map(({ state }) => state)
    expect(states.filter((state) => state !== 'function_call')).toEqual([
      'stop',
      'speech_detect',
      'stop',
      'finished',
    ])
    expect(call.agents).toHaveLength(2)
  })

  it('follows the answer of the call', async () => {
    const call = new FakeCall()
    call.talks.push((agent: FakeAgent) => {
      agent.hear('Hello?')
      agent.end({ kind: 'inactive' })
    })
    const application = await gateway.listener(aware)
    gateway.arrives(call)
    const { call_id } = await application.event('calling.call.receive')
    await application.ask('calling.ai', { call_id, control_id: 'k', prompt })
    await eventsOf(application)
    const story = ['call.receive created', 'state answered', 'ai speech_detect', 'ai stop', 'ai finished']
    expect(application.story.slice(1)).toEqual(story.slice(1))
  })

  it('is not sent to clients that have no agents', async () => {
    for (const agent of ['@signalwire/nodejs/realtime-api/3.13.0', '@signalwire/realtime-api/3.0.0']) {
      const call = new FakeCall()
      call.talks.push((one: FakeAgent) => {
        one.hear('Hello?')
        one.end({ kind: 'inactive' })
      })
      const { application, ask } = await gateway.taken(call, { agent })
      await ask('calling.ai', { control_id: 'k', prompt })
      expect(await eventsOf(application)).toEqual([{ state: 'finished' }])
      call.end()
      await application.socket.close()
      await expect.poll(() => gateway.dialect.online).toEqual([])
    }
  })

  it('leaves out events beyond 16 kB', async () => {
    const { ask, application } = await talking((agent) => {
      agent.hear('x'.repeat(16_384))
      agent.end({ kind: 'inactive' })
    })
    await ask('calling.ai', { control_id: 'k', prompt })
    expect((await eventsOf(application)).map(({ state }) => state)).toEqual(['stop', 'finished'])
  })

  it('reaches an application that returns without old words, and takes no place of other events', async () => {
    const begun = Promise.withResolvers<FakeAgent>()
    const { application, ask } = await talking((agent) => begun.resolve(agent))
    const { protocol } = await application.ask('signalwire.connect', {
      authentication: { project: 'demo', token: apiToken },
    })
    const other = new FakeCall({ callId: 'c-2' })
    gateway.arrives(other)
    await application.event('calling.call.receive')
    await application.ask('calling.answer', { call_id: 'c-2' })
    await ask('calling.ai', { control_id: 'k', prompt })
    const agent = await begun.promise
    await application.socket.close()
    await expect.poll(() => gateway.dialect.online).toEqual([])
    other.end()
    await expect.poll(() => gateway.dialect.calls).toBe(1)
    for (let i = 0; i < 600; i++) agent.hear(`turn ${i}`)
    for (const text of ['I', 'I am']) agent.emit({ kind: 'partial', text, isBarge: false })
    agent.end({ kind: 'inactive' })
    const again = await gateway.application()
    await again.connect(undefined, { protocol })
    const events = await eventsOf(again)
    expect(events.at(-1)).toEqual({ state: 'finished' })
    expect(again.story.slice(0, 2)).toEqual(['state ending', 'state ended'])
    expect(events.map(({ state }) => state)).not.toContain('partial_result')
    expect(events.length).toBeLessThanOrEqual(500)
    expect(events.at(-3)).toMatchObject({ result: { text: 'turn 599' } })
  })

  it('keeps its turns for an application that returns, and drops replaced words first', async () => {
    const begun = Promise.withResolvers<FakeAgent>()
    const { application, ask } = await talking((agent) => begun.resolve(agent))
    const { protocol } = await application.ask('signalwire.connect', {
      authentication: { project: 'demo', token: apiToken },
    })
    await ask('calling.ai', { control_id: 'k', prompt })
    const agent = await begun.promise
    await application.socket.close()
    await expect.poll(() => gateway.dialect.online).toEqual([])
    for (let i = 0; i < 100; i++) {
      agent.hear(`turn ${i}`)
      for (let n = 0; n < 9; n++) agent.emit({ kind: 'partial', text: `part ${i}.${n}`, isBarge: false })
    }
    // Speech of the agent replaces no words of the caller.
    agent.emit({ kind: 'utterance', answer: 'a', text: 'Yes.' })
    const again = await gateway.application()
    await again.connect(undefined, { protocol })
    agent.end({ kind: 'inactive' })
    const events = await eventsOf(again)
    const textsOf = (wanted: string) =>
      events.filter(({ state }) => state === wanted).map(({ result }) => (result as AnyFrame).text)
    expect(textsOf('speech_detect')).toEqual(Array.from({ length: 100 }, (_, i) => `turn ${i}`))
    expect(textsOf('partial_result')).toEqual(['part 99.8'])
  })
})

describe('amazon_bedrock', () => {
  it('hands the call to the agent of the request', async () => {
    const { ask, application, call } = await talking((agent) => agent.end({ kind: 'inactive' }))
    await ask('calling.amazon_bedrock', { control_id: 'k', prompt: { ...prompt, voice_id: 'amy' } })
    expect((await eventsOf(application)).at(-1)).toEqual({ state: 'finished' })
    expect(call.agents[0]?.options.languages).toEqual([
      { name: 'English', code: 'en-GB', voice: 'amazon.amy' },
    ])
  })
})
