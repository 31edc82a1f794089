import { describe, expect, it } from 'vitest'
import { settle } from '../testing/fake-timers.ts'
import { functionOf, functionsUrl, SessionRig } from './testing/session-rig.ts'

describe('steps', () => {
  const contexts = {
    default: {
      steps: [
        { name: 'greet', text: 'Greet.', functions: ['a'], valid_contexts: ['sales'] },
        { name: 'ask', text: 'Ask.', functions: ['b'], skip_to_next_step: true },
        { name: 'end', text: 'End.', skip_user_turn: true },
      ],
    },
    sales: {
      steps: [{ name: 'sell', text: 'Sell.' }],
      isolated: true,
      enter_fillers: { 'en-US': ['Welcome'] },
    },
  }
  const document = (more: object = {}) => ({
    prompt: { text: 'Base.', contexts: { ...contexts, ...more } },
    SWAIG: { defaults: { web_hook_url: functionsUrl }, functions: [functionOf('a'), functionOf('b')] },
  })

  it('change prompt and functions when the model moves on', async () => {
    const rig = new SessionRig()
    const agent = await rig.start(document())
    expect(agent.prompt).toContain('Base.\n\nPresent step of the conversation: greet')
    expect(agent.functions).toEqual(['a', 'next_step', 'change_context', 'hangup'])
    expect((await agent.call('next_step', { step: 'ask' })).text).toContain('Ask.')
    expect(agent.functions).toEqual(['b', 'next_step', 'hangup'])
    expect((await agent.call('a')).text).toContain('not available')
    expect((await agent.call('next_step', { step: 'greet' })).text).toContain('must be one of: end')
  })

  it('go on by themselves after an answer', async () => {
    const agent = await new SessionRig().start(document())
    await agent.call('next_step')
    agent.speak('A question')
    await settle()
    expect(agent.prompt).toContain('step of the conversation: end')
    expect(agent.of('message')).toHaveLength(1)
  })

  it('do not go on after a phrase on the way to them, or after an answer that leads there', async () => {
    const agent = await new SessionRig().start(document())
    await agent.call('next_step')
    const answer = {
      kind: 'answer',
      answer: 'a',
      spoken: 'One moment',
      heard: 'One moment',
      heardMs: 900,
    } as const
    const calls = [{ id: 'call-1', name: 'next_step', args: '{}' }]
    agent.emit({ ...answer, isBarged: false, isExact: false, calls, stamps: {} })
    agent.emit({ ...answer, isBarged: false, isExact: true, calls: [], stamps: {} })
    await settle()
    expect(agent.prompt).toContain('step of the conversation: ask')
  })

  it('forget the conversation in an isolated context, after a filler', async () => {
    const rig = new SessionRig()
    const agent = await rig.start(document())
    agent.hear('Hello')
    expect((await agent.call('change_context', { context: 'sales' })).text).toContain(
      'The context is now sales.',
    )
    expect(agent.of('change')).toContainEqual([{ history: [] }])
    expect(agent.of('say')).toEqual([['Welcome']])
  })

  it('are changed by actions', async () => {
    const rig = new SessionRig()
    const agent = await rig.start(document())
    rig.reply({ response: 'Ok.', action: [{ change_step: 'end' }] })
    await agent.call('a')
    expect(agent.prompt).toContain('End.')
    expect(agent.of('message')).toHaveLength(1)
  })

  it('gather answers into the global data', async () => {
    const rig = new SessionRig()
    const questions = [{ key: 'age', question: 'Age?', type: 'integer' }]
    const steps = [
      {
        name: 'one',
        text: 'Ask.',
        gather_info: { questions, output_key: 'who', completion_action: 'next_step' },
      },
      { name: 'two', text: 'You are %{global_data.who.age}.' },
    ]
    const agent = await rig.start({ prompt: { contexts: { default: { steps } } } })
    expect(agent.functions).toEqual(['gather_submit', 'hangup'])
    expect((await agent.call('gather_submit', { answer: 'old' })).text).toContain('whole number')
    expect((await agent.call('gather_submit', { answer: '41' })).text).toContain('You are 41.')
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.memory.globalData).toEqual({ who: { age: 41 } })
  })

  it('forget the conversation before isolated questions', async () => {
    const questions = [
      { key: 'age', question: 'Age?', type: 'integer' },
      { key: 'pin', question: 'PIN?', isolated: true },
      { key: 'name', question: 'Name?' },
    ]
    const steps = [
      { name: 'one', text: 'Greet.' },
      { name: 'two', text: 'Ask.', gather_info: { questions, isolated: true } },
    ]
    const agent = await new SessionRig().start({ prompt: { contexts: { default: { steps } } } })
    const resets = () =>
      agent.of('change').filter(([change]) => (change as { history?: unknown }).history !== undefined)
    await agent.call('next_step')
    expect(resets()).toEqual([[{ history: [] }]])
    expect((await agent.call('gather_submit', { answer: 40 })).text).toContain('PIN?')
    expect(resets()).toHaveLength(2)
    await agent.call('gather_submit', { answer: '1234' })
    await agent.call('gather_submit', { answer: 'Ann' })
    expect(resets()).toHaveLength(2)
  })

  it('know a summary of the step before, if a text names it', async () => {
    const summary = `Before (\${step_history.prev.step}): %{step_history.prev.summary}`
    const steps = [
      { name: 'one', text: 'Greet.' },
      { name: 'two', text: summary },
    ]
    const agent = await new SessionRig().start({ prompt: { contexts: { default: { steps } } } })
    agent.summary = 'The caller is Ann.'
    expect((await agent.call('next_step')).text).toContain('Before (one): The caller is Ann.')
    expect(agent.prompt).toContain('Before (one): The caller is Ann.')
    expect(agent.of('summarize')).toHaveLength(1)
  })

  it.each([
    { prompt: '%{step_history.prev.summary}' },
    { questions: [{ key: 'a', question: 'Is it %{step_history.prev.summary}?' }] },
    { questions: [{ key: 'a', question: 'So?', prompt: '%{step_history.prev.summary}' }] },
  ])('know a summary also in the questions of a step: %j', async (more) => {
    const steps = [
      { name: 'one', text: 'Greet.' },
      { name: 'two', gather_info: { questions: [{ key: 'a', question: 'So?' }], ...more } },
    ]
    const agent = await new SessionRig().start({ prompt: { contexts: { default: { steps } } } })
    agent.summary = 'The caller is Ann.'
    expect((await agent.call('next_step')).text).toContain('The caller is Ann.')
  })

  it('ask for all summaries of a change at once', async () => {
    const steps = [
      { name: 'one', text: 'Greet.' },
      {
        name: 'two',
        text: '%{step_history.prev.summary}',
        reset: { consolidate: true, system_prompt: 'You are in sales.' },
      },
    ]
    const rig = new SessionRig()
    const agent = await rig.start({ prompt: { contexts: { default: { steps } } } })
    const asked: string[] = []
    agent.summarize = (instruction) => {
      asked.push(instruction)
      return new Promise(() => {})
    }
    const called = agent.call('next_step')
    await settle()
    expect(asked).toHaveLength(2)
    expect(agent.of('change')).toEqual([])
    await rig.timers.advance(15_000)
    expect((await called).text).toContain('Present step of the conversation: two')
    expect(agent.prompt).toContain('You are in sales.')
    expect(rig.timers.pending).toBe(0)
  })

  it('ask for no summary that no text names', async () => {
    const agent = await new SessionRig().start(document())
    await agent.call('next_step')
    expect(agent.of('summarize')).toEqual([])
  })

  it('are redacted in reports, function results and debug events', async () => {
    const rig = new SessionRig()
    const questions = [
      { key: 'a', question: 'The SECRET question?' },
      { key: 'b', question: 'Another SECRET question?' },
    ]
    const steps = [
      { name: 'one', text: 'The first SECRET.', step_criteria: 'Some SECRET.' },
      { name: 'two', text: 'The second SECRET.', gather_info: { questions, prompt: 'A SECRET.' } },
    ]
    const params = { redact_prompt: true, debug_webhook_url: 'https://x.example/d', debug_webhook_level: 2 }
    const agent = await rig.start({
      prompt: { text: 'The SECRET base.', contexts: { default: { steps, user_prompt: 'A SECRET user.' } } },
      post_prompt_url: 'https://x.example/report',
      params,
    })
    expect((await agent.call('next_step')).text).toContain('The second SECRET.')
    await agent.call('gather_submit', { answer: 'x' })
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.sent('agent-report')).toHaveLength(1)
    expect(JSON.stringify(rig.context.callbacks)).not.toContain('SECRET')
  })
})
