import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { Call } from './call.ts'
import { type AgentEvent, SignalWire } from './index.ts'
import { TestGateway } from './testing.ts'
import type { Values } from './wire.ts'

let gateway: TestGateway
let call: Call

beforeEach(async () => {
  gateway = await TestGateway.open()
  const client = await SignalWire({ project: 'demo', token: 'x', host: gateway.host })
  onTestFinished(() => client.disconnect())
  const { promise, resolve } = Promise.withResolvers<Call>()
  await client.voice.listen({ topics: ['office'], onCallReceived: resolve })
  gateway.tell('receive', { call_id: 'c1', node_id: 'n1', context: 'office', direction: 'inbound' })
  call = await promise
})
afterEach(() => gateway.close())

const prompt = { text: 'Help.' }

/** Returns the request that started the agent, and a function that sends its events. */
const asked = async (method = 'calling.ai') => {
  const { control_id, ...given } = (await gateway.next(method)).params
  const tell = (state: string, result?: Values) =>
    gateway.tell('ai', { call_id: 'c1', control_id, state, ...(result && { result }) })
  return { given, tell, control_id }
}

it('a call is handed to an agent, and its transcript is typed', async () => {
  const agent = call.ai({ prompt, global_data: { firstName: 'Ann' } })
  const all: AgentEvent[] = []
  const users: string[] = []
  call.onAgentEvent((event) => all.push(event))
  const forget = agent.on('user', ({ text }) => {
    users.push(text)
    forget()
  })
  const { given, tell } = await asked()
  expect(given).toEqual({ call_id: 'c1', node_id: 'n1', prompt, global_data: { firstName: 'Ann' } })
  tell('start', {})
  await agent.started
  tell('partial_result', { text: 'I', barged: true })
  tell('speech_detect', { text: 'I want', type: 'normal' })
  tell('transparent_barge', { combined_text: 'I want two' })
  tell('response_utterance', { utterance: '' })
  tell('function_call', { function: 'book', arguments: '{}', duration_ms: 7, outcome: 'finished' })
  tell('completion', { text: 'One', type: 'barged', given_up: true })
  tell('warning', { code: 'w', message: 'Late.' })
  tell('a_later_version', { text: 'x' })
  tell('stop', { reason: 'inactive' })
  tell('finished')
  expect(await agent).toBeUndefined()
  expect(all).toEqual([
    { type: 'start' },
    { type: 'partial', text: 'I', isBarge: true },
    { type: 'user', text: 'I want', isJoined: false },
    { type: 'user', text: 'I want two', isJoined: true },
    { type: 'utterance', text: '' },
    { type: 'function', name: 'book', args: '{}', durationMs: 7, outcome: 'finished' },
    { type: 'answer', text: 'One', isBarged: true, isGivenUp: true },
    { type: 'warning', code: 'w', message: 'Late.' },
    { type: 'stop', reason: 'inactive' },
  ])
  expect(users).toEqual(['I want'])
})

it('an agent receives messages, waits, and is stopped', async () => {
  const agent = call.amazonBedrock({ prompt })
  const { tell, control_id } = await asked('calling.amazon_bedrock')
  await agent.message('Offer a discount.')
  expect((await gateway.next('calling.ai_message')).params).toMatchObject({
    call_id: 'c1',
    role: 'system',
    message_text: 'Offer a discount.',
  })
  await agent.hold({ timeout: 20, prompt: 'One moment.' })
  expect((await gateway.next('calling.ai_hold')).params).toMatchObject({ timeout: 20, prompt: 'One moment.' })
  await agent.unhold('Tell that you are back.')
  expect((await gateway.next('calling.ai_unhold')).params).toMatchObject({
    prompt: 'Tell that you are back.',
  })
  await agent.stop()
  expect((await gateway.next('calling.ai.stop')).params).toMatchObject({ control_id })
  tell('finished')
  await agent
})

it('an agent that fails rejects with the code', async () => {
  const agent = call.ai({ prompt })
  const { control_id } = await asked()
  gateway.tell('ai', { call_id: 'c1', control_id, state: 'error', error: 'agents_unavailable' })
  await expect(agent).rejects.toMatchObject({ code: 'agents_unavailable', message: 'The agent failed.' })
})

it('the agent of an address is heard without an operation', async () => {
  const { promise, resolve } = Promise.withResolvers<AgentEvent>()
  call.onAgentEvent(resolve)
  gateway.tell('ai', { call_id: 'c1', state: 'completion', result: { text: 'Hello.', type: 'normal' } })
  expect(await promise).toEqual({ type: 'answer', text: 'Hello.', isBarged: false, isGivenUp: false })
})
