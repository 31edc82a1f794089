// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are placeholders of scripts
import { afterAll, describe, expect, it } from 'vitest'
import type { FakeAgent } from '../../testing/fake-agent.ts'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { faultsOf, faultsOfText, TestScripts } from '../../testing/test-scripts.ts'
import { VerbFailed } from '../../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const url = 'https://x.example/swaig'
const prompt = { text: 'Help.' }

/** Runs steps whose agent is driven by a function, with a server that replies as given. */
const talk = (
  main: readonly unknown[],
  drive: (agent: FakeAgent) => unknown,
  reply: unknown = {},
  sections = {},
) => {
  const call = new FakeCall()
  const context = new FakeContext({ [url]: JSON.stringify(reply) })
  call.talks.push(drive)
  return scripts.run(main, { call, context, sections })
}

/** Document with one function. */
const withFunction = {
  prompt,
  SWAIG: { functions: [{ function: 'go', description: 'Goes.', web_hook_url: url }] },
}

const stop = (agent: FakeAgent) => agent.end({ kind: 'stopped' })

/** Calls the function, and stops unless the agent is over. */
const goes = async (agent: FakeAgent) => {
  await agent.call('go')
  agent.end({ kind: 'inactive' })
}

describe('ai', () => {
  it('hands the call to an agent, and the next step follows', async () => {
    const { names, verbs, warnings } = await talk(
      [{ ai: { prompt } }, { play: { url: 'say:%{ai_result} %{return_value}' } }],
      stop,
    )
    expect(names).toEqual(['startAgent', 'play'])
    expect(verbs[1]?.[1]).toMatchObject({ sounds: [{ text: 'success success' }] })
    expect(warnings).toEqual([])
  })

  it('fails without an engine, and the next step follows', async () => {
    const call = new FakeCall()
    call.failing.set('startAgent', new VerbFailed('agents_unavailable', 'No engine.'))
    const { verbs, warnings } = await scripts.run(
      [{ ai: { prompt } }, { play: { url: 'say:%{ai_result}' } }],
      {
        call,
      },
    )
    expect(verbs.at(-1)?.[1]).toMatchObject({ sounds: [{ text: 'failed' }] })
    expect(warnings).toEqual(['/sections/main/0/ai agents_unavailable'])
  })

  it('fails if no engine goes on', async () => {
    const failed = (agent: FakeAgent) => agent.end({ kind: 'failed', code: 'agent_lost', reason: 'Gone.' })
    const { verbs } = await talk([{ ai: { prompt } }, { play: { url: 'say:%{ai_result}' } }], failed)
    expect(verbs.at(-1)?.[1]).toMatchObject({ sounds: [{ text: 'failed' }] })
  })

  it('ends with the call', async () => {
    const call = new FakeCall()
    call.talks.push(() => call.end())
    const { names } = await scripts.run([{ ai: { prompt } }, { sleep: 1 }], { call })
    expect(names).toEqual(['startAgent'])
  })

  it('knows the variables of the script, and those of the conversation', async () => {
    const { call } = await talk(
      [
        { set: { shop: 'Main', wait: 900, count: 2 } },
        {
          ai: {
            prompt: { text: 'At %{shop}, %{vars.count + 1} of %{global_data.all}, %{absent}.' },
            global_data: { all: '%{count}' },
            params: { end_of_speech_timeout: '%{wait}' },
          },
        },
      ],
      stop,
    )
    expect(call.agents[0]?.options).toMatchObject({
      prompt: 'At Main, 3 of 2, .',
      turns: { endOfSpeechMs: 900 },
    })
  })

  it('takes contexts and steps from variables', async () => {
    const steps = [{ name: 'one', text: 'Greet the caller.' }]
    const { call, warnings } = await talk(
      [
        { set: { steps, contexts: { default: { steps } } } },
        { ai: { prompt: { text: 'A', contexts: { default: { steps: '%{steps}' } } } } },
        { ai: { prompt: { contexts: '%{contexts}' } } },
      ],
      stop,
    )
    expect(call.agents[0]?.prompt).toContain('Greet the caller.')
    expect(warnings).toEqual([])
  })

  it('reads no placeholders in values, such as a display name of the caller', async () => {
    const call = new FakeCall()
    Object.assign(call.info, { fromName: '${global_data.pin} %{global_data.pin}' })
    call.talks.push(stop)
    const ai = {
      prompt: { text: 'The caller is ${call.from_name}, the pin ${global_data.pin}.' },
      global_data: { pin: '4711' },
    }
    await scripts.run([{ ai }], { call, context: new FakeContext({}) })
    expect(call.agents[0]?.prompt).toBe(
      'The caller is $ {global_data.pin} % {global_data.pin}, the pin 4711.',
    )
  })

  it('fails if the values of its placeholders are too long together', async () => {
    const text = '${vars.long}'.repeat(80)
    const main = [{ set: { long: 'x'.repeat(30_000) } }, { ai: { prompt: { text } } }]
    const { names, warnings } = await talk(main, stop)
    expect([names, warnings.length]).toEqual([[], 1])
  })

  it('starts in spite of an expression that fails', async () => {
    const { call, warnings } = await talk([{ ai: { prompt: { text: 'A %{1 +} b' } } }], stop)
    expect(call.agents[0]?.prompt).toBe('A  b')
    expect(warnings).toEqual(['/sections/main/0/ai js_eval_error'])
  })

  it('runs the script of an action, and hears its ai_response', async () => {
    const main = [{ play: { url: 'say:Paid' } }, { set: { ai_response: 'The caller paid.' } }]
    let text = ''
    const drive = async (agent: FakeAgent) => {
      text = (await agent.call('go')).text
      stop(agent)
    }
    const { names } = await talk([{ ai: withFunction }, { sleep: 1 }], drive, {
      action: [{ SWML: { version: '1.0.0', sections: { main } } }],
    })
    expect(text).toBe('The caller paid.')
    expect(names).toEqual(['startAgent', 'play', 'sleep'])
  })

  it('runs any number of scripts of actions', async () => {
    const drive = async (agent: FakeAgent) => {
      for (let i = 0; i < 40; i++) await agent.call('go')
      stop(agent)
    }
    const { warnings } = await talk([{ ai: withFunction }], drive, {
      action: [{ SWML: { sections: { main: [{ set: { a: 1 } }] } } }],
    })
    expect(warnings).toEqual([])
  })

  it('is left by a transfer to a section, which the rest of the script does not follow', async () => {
    const action = [{ transfer: { dest: 'next' } }]
    const next = [{ play: { url: 'say:Next' } }]
    const { names } = await talk([{ ai: withFunction }, { sleep: 1 }], goes, { action }, { next })
    expect(names).toEqual(['startAgent', 'play'])
  })

  it('is left with a script', async () => {
    const main = [{ play: { url: 'say:Other' } }]
    const document = { version: '1.0.0', sections: { main } }
    const left = await talk([{ ai: withFunction }, { sleep: 1 }], goes, {
      action: [{ SWML: document, transfer: true }],
    })
    expect(left.names).toEqual(['startAgent', 'play'])
  })

  it('goes on after the transfer inside the script of an action', async () => {
    const main = [{ set: { ai_response: 'Back again.' } }, { transfer: { dest: 'next' } }]
    const sections = { main, next: [{ play: { url: 'say:Other' } }] }
    let text = ''
    const drive = async (agent: FakeAgent) => {
      text = (await agent.call('go')).text
      stop(agent)
    }
    const { names } = await talk([{ ai: withFunction }, { sleep: 1 }], drive, {
      action: [{ SWML: { version: '1.0.0', sections }, transfer: 'false' }],
    })
    expect([text, names]).toEqual(['Back again.', ['startAgent', 'play', 'sleep']])
  })

  it('stays with a faulty script of an action', async () => {
    let text = ''
    const drive = async (agent: FakeAgent) => {
      text = (await agent.call('go')).text
      stop(agent)
    }
    const action = [{ SWML: { sections: { main: [{ dance: {} }] } } }]
    const { names, warnings } = await talk([{ ai: withFunction }, { sleep: 1 }], drive, { action })
    expect(text).toContain('The action failed')
    expect(names).toEqual(['startAgent', 'sleep'])
    expect(warnings.map((of) => of.split(' ')[1])).toEqual(['method_undefined', 'agent_fault'])
  })

  it('hangs up for its agent', async () => {
    const { names } = await talk([{ ai: { prompt } }, { sleep: 1 }], (agent) => agent.call('hangup'))
    expect(names).toEqual(['startAgent', 'hangup'])
  })

  it('hands global data on to the next agent of the script', async () => {
    const call = new FakeCall()
    const context = new FakeContext({
      [url]: JSON.stringify({ action: [{ set_global_data: { name: 'Ann' } }] }),
    })
    call.talks.push(goes, stop)
    const second = { ai: { prompt: { text: 'Speak to %{global_data.name}.' } } }
    await scripts.run([{ ai: withFunction }, second], { call, context })
    expect(call.agents[1]?.prompt).toBe('Speak to Ann.')
  })

  it('sends a report with the variables of the script', async () => {
    const ai = { prompt, post_prompt: 'Sum up.', post_prompt_url: 'https://x.example/report' }
    const { context } = await talk([{ set: { shop: 'Main' } }, { ai }], stop)
    await new Promise((resolve) => setImmediate(resolve))
    const [report] = context.callbacks
    expect(report?.kind).toBe('agent-report')
    expect(JSON.parse(report?.body?.text ?? '')).toMatchObject({
      SWMLVars: { shop: 'Main' },
      SWMLCall: { call_id: 'c-1' },
      space_id: 's-1',
    })
  })

  it('names the project in reports if the call has no space', async () => {
    const call = new FakeCall()
    call.talks.push(stop)
    const context = new FakeContext({})
    const ai = { prompt, post_prompt_url: 'https://x.example/report' }
    const apart = new TestScripts('')
    await apart.run([{ ai }], { call, context })
    await new Promise((resolve) => setImmediate(resolve))
    await apart.close()
    const report = JSON.parse(context.callbacks[0]?.body?.text ?? '')
    expect(report).toMatchObject({ space_id: 'demo', project_id: 'demo' })
  })

  it('matches expressions of data maps in the sandbox', async () => {
    const data_map = {
      expressions: [{ string: '%{args.day}', pattern: '/^mon/i', output: { response: 'Closed.' } }],
      output: { response: 'Open.' },
    }
    const texts: string[] = []
    const drive = async (agent: FakeAgent) => {
      texts.push(
        (await agent.call('day', { day: 'Monday' })).text,
        (await agent.call('day', { day: 'Sunday' })).text,
      )
      stop(agent)
    }
    await talk(
      [{ ai: { prompt, SWAIG: { functions: [{ function: 'day', description: 'Day.', data_map }] } } }],
      drive,
    )
    expect(texts).toEqual(['Closed.', 'Open.'])
  })

  it('has faults and warnings at their places', async () => {
    expect(faultsOf([{ ai: {} }])).toEqual(['/0/ai method_parameter_missing'])
    expect(faultsOf([{ ai: { prompt: {} } }])).toEqual(['/0/ai/prompt method_parameter_invalid_value'])
    expect(faultsOf(['ai'])).toEqual(['/0 method_parameter_missing'])
    expect(faultsOf([{ ai: { prompt, params: [] } }])).toEqual([
      '/0/ai/params method_parameter_invalid_value',
    ])
    const text = 'sections:\n  main:\n    - ai:\n        prompt:\n          text: a\n        params: 5\n'
    expect(faultsOfText(text)).toMatchObject([{ path: '/sections/main/0/ai/params', line: 6 }])
    const { warnings } = await talk([{ ai: { prompt, params: { dance: true } } }], stop)
    expect(warnings).toEqual(['/sections/main/0/ai/params/dance method_parameter_invalid_value'])
  })

  it('accepts texts that look like faulty expressions', () => {
    expect(faultsOf([{ ai: { prompt: { text: 'Never say ${ or %{1.' } } }])).toEqual([])
  })
})

describe('amazon_bedrock', () => {
  it('hands the call to an agent with its voice, and asks in its own form', async () => {
    const document = { ...withFunction, prompt: { text: 'Help.', voice_id: 'amy' } }
    let after: (() => Promise<void>) | undefined
    const drive = async (agent: FakeAgent) => {
      const result = await agent.call('go')
      after = result.after
      await after?.()
      agent.end({ kind: 'inactive' })
    }
    const { call, context, names } = await talk([{ amazon_bedrock: document }], drive, {
      action: [{ say: 'Hi' }],
    })
    expect(names).toEqual(['startAgent'])
    expect(call.agents[0]?.options.languages).toMatchObject([{ voice: 'amazon.amy' }])
    expect(JSON.parse(context.requests[0]?.body?.text ?? '')).toMatchObject({
      content_disposition: 'agent.function',
      ai_session_id: 'c-1',
    })
    expect(after).toBeDefined()
    expect(call.agents[0]?.names).toEqual(['say'])
  })

  it('has faults at their places', () => {
    expect(faultsOf([{ amazon_bedrock: {} }])).toEqual([
      '/0/amazon_bedrock/prompt method_parameter_invalid_value',
    ])
  })
})
