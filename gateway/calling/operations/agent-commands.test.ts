import { beforeEach, describe, expect, it } from 'vitest'
import { FakeAgentCommands } from '../testing/fake-agent-commands.ts'
import { Fields } from './command-fields.ts'
import { type CommandedCall, commands } from './command-table.ts'

let agentCommands: FakeAgentCommands
let call: CommandedCall
beforeEach(() => {
  agentCommands = new FakeAgentCommands()
  call = { id: 'a', nodeId: 'n', control: { agentCommands } } as unknown as CommandedCall
})

const run = async (name: string, params: object = {}) =>
  (await commands[`calling.${name}`]!(call, new Fields(params))).result

describe('commands to the agent of a call', () => {
  it.each([
    [{}, 300],
    [{ timeout: '60' }, 60],
    [{ timeout: 900 }, 900],
    [{ timeout: '-1' }, 300],
    [{ timeout: '901' }, 300],
  ])('hold it with %j', async (params, seconds) => {
    expect(await run('ai_hold', params)).toMatchObject({ code: '200', call_id: 'a' })
    expect(agentCommands.did).toEqual([['hold', seconds, undefined]])
  })

  it('have instructions, and end the conversation', async () => {
    await run('ai_hold', { prompt: 'Ask for patience.' })
    await run('ai_unhold', { prompt: 'Greet again.' })
    await run('ai_unhold')
    await run('ai_stop', { control_id: 'x' })
    expect(agentCommands.did).toEqual([
      ['hold', 300, 'Ask for patience.'],
      ['unhold', 'Greet again.'],
      ['unhold', undefined],
      ['stop'],
    ])
  })

  it.each([
    [{ message_text: 'A' }, { role: 'system', content: 'A' }, {}],
    [{ role: 'user', message_text: 'A' }, { role: 'user', content: 'A' }, {}],
    [{ global_data: { a: 1 } }, { role: 'system', content: '' }, { globalData: { a: 1 } }],
    [
      { role: 'assistant', reset: { full_reset: true, system_prompt: 'S', user_prompt: 'U' } },
      { role: 'assistant', content: '' },
      { reset: { consolidate: false, fullReset: true, systemPrompt: 'S', userPrompt: 'U' } },
    ],
  ])('pass on %j', async (params, message, more) => {
    await run('ai_message', params)
    expect(agentCommands.did).toEqual([['message', message, more]])
  })

  it.each([
    ['ai_hold', { timeout: 'soon' }, 'timeout'],
    ['ai_hold', { timeout: 1.5 }, 'timeout'],
    ['ai_message', {}, 'message_text'],
    ['ai_message', { role: 'tool', message_text: 'A' }, 'role'],
    ['ai_message', { global_data: [1] }, 'global_data'],
    ['ai_message', { global_data: { a: 'x'.repeat(20_000) } }, 'global_data'],
    ['ai_message', { reset: { full_reset: 1 } }, 'reset.full_reset'],
    ['ai_stop', { control_id: 7 }, 'control_id'],
  ])('%s refuses %j', async (command, params, attribute) => {
    await expect(run(command, params)).rejects.toMatchObject({ code: '400', attribute })
    expect(agentCommands.did).toEqual([])
  })

  it('fail without a running agent', async () => {
    call = { id: 'a', nodeId: 'n', control: {} } as unknown as CommandedCall
    for (const command of ['ai_hold', 'ai_unhold', 'ai_stop'])
      await expect(run(command)).rejects.toMatchObject({ code: '409' })
    await expect(run('ai_message', { message_text: 'A' })).rejects.toMatchObject({ code: '409' })
  })
})
