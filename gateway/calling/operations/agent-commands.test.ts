import { beforeEach, describe, expect, it } from 'vitest'
import { FakeAgent } from '../testing/fake-agent.ts'
import { Fields } from './command-fields.ts'
import { type CommandedCall, commands } from './command-table.ts'

let agent: FakeAgent
let call: CommandedCall
beforeEach(() => {
  agent = new FakeAgent()
  call = { id: 'a', nodeId: 'n', control: { agent } } as unknown as CommandedCall
})

const run = async (name: string, params: object = {}) =>
  (await commands[`calling.${name}`]!(call, new Fields(params))).result

describe('commands to the agent of a call', () => {
  it.each([
    [{}, 300_000],
    [{ timeout: '60' }, 60_000],
    [{ timeout: 900 }, 900_000],
    [{ timeout: '-1' }, 300_000],
    [{ timeout: '901' }, 300_000],
  ])('hold it with %j', async (params, ms) => {
    expect(await run('ai_hold', params)).toMatchObject({ code: '200', call_id: 'a' })
    expect(agent.log).toEqual([`hold ${ms}`])
  })

  it('hold it after its answer to a prompt', async () => {
    await run('ai_hold', { prompt: 'Ask for patience.' })
    expect(agent.log).toEqual(['answer system: Ask for patience.'])
    agent.fallSilent()
    await Promise.resolve()
    expect(agent.log.at(-1)).toBe('hold 300000')
  })

  it.each([
    ['ai_unhold', 'unhold'],
    ['ai_stop', 'stop'],
  ])('do not hold it any more after %s', async (command, done) => {
    await run('ai_hold', { prompt: 'Ask for patience.' })
    await run(command)
    agent.fallSilent()
    await Promise.resolve()
    expect(agent.log).toEqual(['answer system: Ask for patience.', done])
  })

  it('resume it with an instruction', async () => {
    await run('ai_unhold', { prompt: 'Greet again.' })
    expect(agent.log).toEqual(['unhold', 'answer system: Greet again.'])
  })

  it.each([
    [{ message_text: 'A' }, 'answer system: A'],
    [{ role: 'user', message_text: 'A' }, 'answer user: A'],
    [{ role: 'assistant', message_text: 'A' }, 'note assistant: A'],
    [{ global_data: { a: 1 } }, 'command {"globalData":{"a":1}}'],
    [
      { reset: { full_reset: true, system_prompt: 'S', user_prompt: 'U' } },
      'command {"reset":{"isFull":true,"systemPrompt":"S","userPrompt":"U"}}',
    ],
  ])('pass on %j', async (params, done) => {
    await run('ai_message', params)
    expect(agent.log).toEqual([done])
  })

  it.each([
    ['ai_hold', { timeout: 'soon' }, 'timeout'],
    ['ai_hold', { timeout: 1.5 }, 'timeout'],
    ['ai_message', {}, 'message_text'],
    ['ai_message', { role: 'tool', message_text: 'A' }, 'role'],
    ['ai_message', { global_data: [1] }, 'global_data'],
    ['ai_message', { reset: { full_reset: 1 } }, 'reset.full_reset'],
    ['ai_stop', { control_id: 7 }, 'control_id'],
  ])('%s refuses %j', async (command, params, attribute) => {
    await expect(run(command, params)).rejects.toMatchObject({ code: '400', attribute })
    expect(agent.log).toEqual([])
  })

  it('fail without a running agent', async () => {
    call = { id: 'a', nodeId: 'n', control: {} } as unknown as CommandedCall
    for (const command of ['ai_hold', 'ai_unhold', 'ai_stop'])
      await expect(run(command)).rejects.toMatchObject({ code: '409' })
    await expect(run('ai_message', { message_text: 'A' })).rejects.toMatchObject({ code: '409' })
  })

  it('fail if the agent takes no data', async () => {
    Object.assign(agent, { command: undefined })
    await expect(run('ai_message', { global_data: {} })).rejects.toMatchObject({ code: '409' })
  })
})
