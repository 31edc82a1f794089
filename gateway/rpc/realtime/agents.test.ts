import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FakeAgent } from '../../../handlers/testing/fake-agent.ts'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import { VerbFailed } from '../../../handlers/verbs.ts'
import { nextOf, RealtimeTestGateway } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const prompt = { text: 'Help.' }

/** Returns a call whose agent does as a function says; without one it stays. */
const talking = (drive: (agent: FakeAgent) => unknown = () => {}) => {
  const call = new FakeCall()
  call.talks.push(drive)
  return gateway.taken(call)
}

describe('ai', () => {
  it('hands the call to the agent of the request, and reports its end', async () => {
    const { ask, application, call } = await talking((agent) => agent.end({ kind: 'inactive' }))
    const params = { end_of_speech_timeout: 900 }
    expect(
      await ask('calling.ai', { control_id: 'k', node_id: 'node-1', prompt, params, global_data: { a: 1 } }),
    ).toEqual({ code: '200', message: 'OK', call_id: 'c-1', node_id: 'node-1', control_id: 'k' })
    expect(await nextOf(application, 'ai')).toEqual({ state: 'finished' })
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
    expect(await nextOf(application, 'ai')).toEqual({ state: 'finished' })
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
    expect(await nextOf(application, 'ai')).toEqual({ state: 'finished' })
  })

  it('ends before the call does', async () => {
    const { ask, application, call } = await talking()
    await ask('calling.ai', { control_id: 'k', prompt })
    await expect.poll(() => call.agents.length).toBe(1)
    call.end()
    await application.event('calling.call.ai')
    await expect
      .poll(() => application.story.slice(-3))
      .toEqual(['state ending', 'ai finished', 'state ended'])
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

describe('amazon_bedrock', () => {
  it('hands the call to the agent of the request', async () => {
    const { ask, application, call } = await talking((agent) => agent.end({ kind: 'inactive' }))
    await ask('calling.amazon_bedrock', { control_id: 'k', prompt: { ...prompt, voice_id: 'amy' } })
    expect(await nextOf(application, 'ai')).toEqual({ state: 'finished' })
    expect(call.agents[0]?.options.languages).toEqual([
      { name: 'English', code: 'en-GB', voice: 'amazon.amy' },
    ])
  })
})
