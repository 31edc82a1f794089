import { afterEach, describe, expect, it } from 'vitest'
import { noise } from '../stand-ins/testing/caller-audio.ts'
import {
  answer,
  builtInHz,
  characterMs,
  engineHz,
  WiredCall,
  type WiredEngine,
  type WiredPlan,
} from './testing/wired-call.ts'

/**
 * Complaints about voice agents on the telephone. Each is reproduced at the engine's side, by its stand-in,
 * and the caller hears nothing of it. Those about packets are in the scenarios: echo, coughs, recordings.
 */

let call: WiredCall | undefined

afterEach(async () => {
  await call?.close()
  call = undefined
})

const open = async (plan: WiredPlan): Promise<WiredCall> => {
  call = await WiredCall.open(plan)
  return call
}

/** Engines that have the complaint. */
const both = ['pipeline', 'openai-realtime'] as const
const all: readonly WiredEngine[] = [
  ...both,
  'openai-live',
  'gemini-live',
  'deepgram-agent',
  'elevenlabs-agent',
  'ultravox',
]

/** Longest pause between the first and the last sound from a frame on, in ms. */
const longestPause = ({ tap }: WiredCall, from = 0): number => {
  const loud = tap.sounds(from)
  return 20 * Math.max(0, ...loud.slice(1).map((at, index) => at - loud[index]! - 1))
}

/** Entries of the history in the report. */
const logOf = async (of: WiredCall) => {
  of.hangUp()
  await of.passes(300)
  const report = of.context.callbacks.find(({ kind }) => kind === 'agent-report')
  return JSON.parse(report?.body?.text ?? '{}').call_log as readonly {
    readonly role: string
    readonly content: string
    readonly barged?: boolean
  }[]
}
const said = (log: Awaited<ReturnType<typeof logOf>>, role: string) =>
  log.flatMap((entry) => (entry.role === role && entry.content !== '' ? [entry.content] : []))

const report = { post_prompt_url: 'http://x.example/report' }
/** Answer of five seconds in every engine: characters last as long in the built-in voice. */
const story = 'a long story '.repeat(7).slice(0, 5000 / characterMs)
const tellsStory = { when: { contains: ['story'] }, do: [answer(story, 5000)] }

describe.each(both)('with the engine %s, no caller complains that', (engine) => {
  it('the answer takes seconds', async () => {
    const of = await open({ engine })
    of.says('What time is it?')
    await of.passes(800)
    // 300 ms of silence end the turn; detection and two sockets add the rest.
    expect(await of.hears('the answer')).toBeLessThanOrEqual(600)
  })

  it('"uh-huh" or a cough stops the agent', async () => {
    // Servers that decide about turns do so at each voice, unless the document forbids it.
    const params = engine === 'pipeline' ? {} : { enable_barge: 'false' }
    const of = await open({ engine, rules: [tellsStory], ai: report, params })
    of.says('Tell me a story.')
    await of.passes(800)
    await of.hears('the story')
    of.says('Uh-huh.', 300)
    await of.passes(1500)
    of.says('', 160)
    await of.isSilent('the end of the story')
    const log = await logOf(of)
    expect(said(log, 'assistant')[0]).toBe(story)
    expect(log.filter(({ barged }) => barged)).toEqual([])
    expect(of.tap.sounds().length * 20).toBeGreaterThanOrEqual(4900)
  })

  it('bursts and pauses of the engine reach the line', async () => {
    const pieces = [
      answer('one two three. ', 900),
      { after: 400 },
      answer('four five six. ', 900),
      answer('seven eight nine.', 900),
    ]
    const of = await open({ engine, rules: [{ when: { contains: ['count'] }, do: pieces }] })
    of.says('Please count.')
    await of.passes(800)
    await of.hears('the numbers')
    await of.isSilent('the end of the numbers')
    expect(longestPause(of)).toBe(0)
  })

  it('the goodbye is cut by the hang-up', async () => {
    const goodbye = 'Goodbye, and thank you very much for your call.'
    const ms = goodbye.length * characterMs
    const rules = [{ when: { contains: ['bye'] }, do: [answer(goodbye, ms), { call: 'hangup' }] }]
    const of = await open({ engine, rules, ai: report })
    of.says('Well, bye.')
    await of.passes(800)
    await of.until('the agent hangs up', () => of.call.names.includes('hangup'))
    expect(Math.abs(of.tap.sounds().length * 20 - ms)).toBeLessThanOrEqual(20)
    expect(said(await logOf(of), 'assistant')).toEqual([goodbye])
  })

  it('the last words are cut by a transfer', async () => {
    const words = 'I connect you now, one moment please.'
    const ms = words.length * characterMs
    const dest = JSON.stringify({ sections: { main: [{ play: { url: 'say:transferred' } }] } })
    const functions = [
      {
        function: 'leave',
        description: 'Leaves.',
        parameters: { type: 'object', properties: {} },
        data_map: { output: { response: 'Done.', action: [{ transfer: dest }] } },
      },
    ]
    const rules = [{ when: { contains: ['sales'] }, do: [answer(words, ms), { call: 'leave' }] }]
    const of = await open({ engine, rules, ai: { SWAIG: { functions } } })
    of.says('The sales, please.')
    await of.passes(800)
    await of.until('the transfer', () => of.result === 'transferred')
    // A pipeline speaks the clauses one by one, without the space between them.
    expect(Math.abs(of.tap.sounds().length * 20 - ms)).toBeLessThanOrEqual(characterMs)
  })

  it('music keeps a dead call open', async () => {
    const of = await open({ engine, params: { inactivity_timeout: 10_000 } })
    of.says('', 30_000)
    const ms = await of.until('the conversation ends', () => of.isOver, 40_000)
    expect(ms).toBeLessThan(25_000)
    expect(await of.counts('agentsEnded')).toEqual(['end=inactive: 1'])
  })

  it('keys are lost, doubled, or spoken over', async () => {
    const rules = [tellsStory, { when: { pattern: '^42$' }, do: [answer('Room forty-two.', 900)] }]
    const of = await open({
      engine,
      rules,
      ai: report,
      params: { digit_timeout: 500, transparent_barge: false },
    })
    of.says('Tell me a story.')
    await of.passes(800)
    await of.hears('the story')
    await of.passes(1000)
    for (const digit of '42') {
      of.agent?.digit(digit)
      await of.passes(200)
    }
    expect(of.tap.queuedMs).toBe(0)
    await of.hears('the answer')
    await of.isSilent('its end')
    const log = await logOf(of)
    expect(said(log, 'user')).toEqual(['Tell me a story.', '42'])
    expect(said(log, 'assistant').at(-1)).toBe('Room forty-two.')
  })

  it('the idle question comes while the caller speaks, or before the last words were heard', async () => {
    const rules = [tellsStory, { when: 'begin', do: [answer('Are you there?', 800)] }]
    const of = await open({ engine, rules, params: { attention_timeout: 3000 } })
    of.says('Tell me a story.')
    await of.passes(800)
    await of.hears('the story')
    await of.isSilent('the end of the story')
    const end = of.tap.sounds().at(-1)!
    await of.hears('the idle question', 6000)
    expect((of.tap.sounds(end + 1)[0]! - end) * 20).toBeGreaterThanOrEqual(3000)
  })
})

describe('with a pipeline, no caller complains that', () => {
  it.each([
    ['in a number', 'My number is one two three', 1500],
    ['after a word that asks for more', 'I would like to book a table and', 700],
  ])('the turn ends in a pause %s', async (_, text, pauseMs) => {
    const of = await open({ engine: 'pipeline', ai: report })
    of.says(text, 1000)
    await of.passes(1000 + pauseMs)
    of.says('four five six.', 800)
    await of.passes(800)
    await of.hears('the answer')
    await of.isSilent('its end')
    const [first = ''] = said(await logOf(of), 'user')
    expect(first.toLowerCase()).toBe(`${text} four five six.`.toLowerCase())
  })

  it('a protected greeting is interrupted', async () => {
    const greeting = 'This call may be recorded, for training.'
    const params = { wait_for_user: false, static_greeting: greeting, static_greeting_no_barge: true }
    const of = await open({ engine: 'pipeline', params, ai: report })
    await of.hears('the greeting')
    of.says('Stop it, I want to book.', 700)
    await of.isSilent('the end of the greeting', 60_000)
    expect(said(await logOf(of), 'assistant-manual')).toEqual([greeting])
  })

  it('a false interruption never ends', async () => {
    const of = await open({ engine: 'pipeline', rules: [tellsStory], ai: report })
    of.says('Tell me a story.')
    await of.passes(800)
    await of.hears('the story')
    await of.passes(3200)
    of.says('', 160)
    await of.passes(160)
    // The sound has no words: the agent goes on with the same sample within 300 ms, after 200 ms of silence.
    expect(await of.hears('the rest of the story')).toBeLessThanOrEqual(560)
    await of.isSilent('the end of the story')
    expect(of.tap.sounds().length * 20).toBe(story.length * characterMs)
    expect(said(await logOf(of), 'assistant')).toEqual([story])
  })

  it('functions are lost, doubled, or run by an answer that was thrown away', async () => {
    const functions = [
      {
        function: 'book',
        description: 'Books.',
        parameters: { type: 'object', properties: {} },
        data_map: { output: { response: 'Booked.', action: [{ set_global_data: { booked: true } }] } },
      },
    ]
    const rules = [
      { when: { contains: ['friday'] }, do: [{ call: 'book' }] },
      { when: { on: 'result' }, do: [answer('Booked.', 500)] },
    ]
    const of = await open({ engine: 'pipeline', rules, ai: { ...report, SWAIG: { functions } } })
    // The text is complete, so an answer is prepared; then the caller goes on, and wants something else.
    of.says('Book it on Friday?', 700)
    await of.passes(900)
    of.says('No, I mean the weather.', 700)
    await of.passes(700)
    await of.hears('the answer')
    await of.isSilent('its end')
    of.says('Now book it on Friday.', 700)
    await of.passes(700)
    await of.hears('the answer')
    await of.isSilent('its end')
    expect(said(await logOf(of), 'tool')).toEqual(['Booked.'])
  })

  it('an error after an interruption ends the session', async () => {
    const of = await open({ engine: 'pipeline', rules: [tellsStory], params: { transparent_barge: false } })
    await interrupt(of)
    expect(of.faults).toEqual([])
  })
})

/** Interrupts a story with words, and waits for the answer to them. */
const interrupt = async (of: WiredCall) => {
  of.says('Tell me a story.')
  await of.passes(800)
  await of.hears('the story')
  await of.passes(1500)
  of.says('Stop, what about the weather?', 900)
  await of.passes(900)
  await of.until('the story is cut', () => of.tap.queuedMs === 0, 1500)
  await of.hears('the answer')
  await of.isSilent('its end')
}

describe('with engines that hear and speak, no caller complains that', () => {
  it('an error after an interruption ends the session', async () => {
    const rules = [{ ...tellsStory, do: [{ quirk: 'truncate-error' }, answer(story, 5000)] }]
    const of = await open({ engine: 'openai-realtime', rules, params: { transparent_barge: false } })
    await interrupt(of)
    const [{ audio_end_ms: heardMs }] = of.received('conversation.item.truncate') as [
      { audio_end_ms: number },
    ]
    expect(heardMs).toBeGreaterThan(1400)
    expect(heardMs).toBeLessThan(3500)
    expect(of.faults).toEqual([])
  })

  it.each(all)('%s takes audio of one rate for that of another', async (engine) => {
    const rules = [{ when: 'any', do: [answer('{{seconds}}', 1000)] }]
    const of = await open({ engine, rules, ai: report })
    // Without a text, the recogniser reports how long it heard the caller.
    of.makes(noise(1600, of.tap.rate))
    await of.passes(1600)
    await of.hears('the answer')
    await of.isSilent('its end')
    // A stream without turns is divided by its silences.
    await of.passes(1500)
    expect(of.tap.pitch()).toBe(engine === 'pipeline' ? builtInHz : engineHz)
    const [text = ''] = said(await logOf(of), 'assistant')
    expect(Math.abs(Number(text) - 1.6)).toBeLessThanOrEqual(0.1)
    if (engine !== 'pipeline') expect(Math.abs(of.tap.sounds().length * 20 - 1000)).toBeLessThanOrEqual(40)
  })

  it('the delay grows in a call with an engine of real-time pace', async () => {
    const rules = [{ when: 'any', do: [answer('It goes on.', 1000)] }]
    const of = await open({ engine: 'openai-live', rules })
    const delays: number[] = []
    for (let turn = 0; turn < 6; turn++) {
      of.says('And what else?', 800)
      await of.passes(800)
      delays.push(await of.hears('the answer'))
      await of.isSilent('its end')
    }
    expect(Math.max(...delays) - Math.min(...delays)).toBeLessThanOrEqual(60)
    expect(of.faults).toEqual([])
  })

  it('the limit of a session ends the call, or is heard', async () => {
    const of = await open({ engine: 'openai-realtime', longestSessionMs: 34_000, ai: report })
    for (let turn = 0; turn < 9; turn++) {
      of.says(`Question ${turn}.`, 800)
      await of.passes(800)
      expect(await of.hears(`answer ${turn}`, 1500)).toBeLessThanOrEqual(700)
      await of.isSilent('its end')
      await of.passes(2000)
    }
    // The sessions of 34 s were replaced 30 s ahead of their limits, with the history.
    const opened = of.standIns.log.entries.filter(
      ({ engine, what }) => engine === 'realtime' && what === 'opened',
    )
    expect(opened.length).toBeGreaterThanOrEqual(4)
    expect(of.faults).toEqual([])
    expect(said(await logOf(of), 'user')).toHaveLength(9)
  })
})
