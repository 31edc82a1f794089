import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readAgent } from './document.ts'
import type { AgentDocument } from './document-types.ts'
import { paramsWithoutEffect } from './params.ts'
import { contextsDemo, infoGatherer, skills } from './testing/documents.ts'

const read = (value: unknown): AgentDocument => {
  const { document, faults } = readAgent(value)
  expect(faults).toEqual([])
  if (!document) throw new Error('there is no document')
  return document
}

const faultsOf = (value: unknown): readonly string[] => {
  const { document, faults } = readAgent(value)
  expect(document).toBeUndefined()
  return faults.map(({ path, message }) => `${path} ${message}`)
}

const warningsOf = (value: unknown): readonly string[] =>
  readAgent(value).warnings.map(({ path, message }) => `${path} ${message}`)

const prompt = { text: 'Be kind.' }

describe('placeholders in contexts', () => {
  it.each<[object]>([
    [{ contexts: '%{vars.contexts}' }],
    [{ contexts: { default: '%{vars.default}' } }],
    [{ contexts: { default: { steps: `\${vars.steps}` } } }],
  ])('are accepted until the script runs: %j', (prompt) => {
    const { document, faults, warnings } = readAgent({ prompt })
    expect([faults, warnings]).toEqual([[], []])
    expect(document).toBeDefined()
  })

  it('are accepted as steps of a list', () => {
    const steps = [{ name: 'one', text: 'One.' }, '%{vars.two}']
    const { contexts } = read({ prompt: { contexts: { default: { steps } } } })
    expect(contexts.get('default')?.steps).toHaveLength(1)
    expect(warningsOf({ prompt: { contexts: { default: { steps } } } })).toEqual([])
  })

  it('are no names of unknown contexts', () => {
    const contexts = {
      default: { steps: [{ name: 'one', valid_contexts: ['sales'] }] },
      sales: '%{vars.sales}',
    }
    expect(warningsOf({ prompt: { contexts } })).toEqual([])
  })

  it.each<[object, string]>([
    [{ contexts: `\${global_data.contexts}` }, '/prompt/contexts'],
    [{ text: 'x', contexts: '%{ lc:meta_data.contexts }' }, '/prompt/contexts'],
    [{ contexts: { default: '%{args.default}' } }, '/prompt/contexts/default'],
    [{ contexts: { default: { steps: '%{step_history.prev}' } } }, '/prompt/contexts/default/steps'],
  ])('come too late if they name values of the conversation: %j', (prompt, path) => {
    expect(faultsOf({ prompt })).toEqual([`${path} must not be a value of the conversation`])
  })
})

describe('a document of the agent SDK', () => {
  it('of a prefab is read without a warning', () => {
    expect(warningsOf(infoGatherer)).toEqual([])
    const { prompt, postPrompt, postPromptUrl, functions, defaultWebhook, turns, params } = read(infoGatherer)
    expect(prompt.text).toBe(
      '## Objective\n\nGet answers to a series of questions. Begin by asking if the caller is ready.\n\n' +
        '## Rules\n\n- Ask one question at a time.\n- Confirm an answer before submitting it.',
    )
    expect(prompt.settings).toEqual({
      temperature: 0.3,
      topP: 1,
      presencePenalty: 0.1,
      frequencyPenalty: 0.1,
    })
    expect(postPrompt).toMatchObject({ text: 'Return a JSON object with the answers.' })
    expect(postPromptUrl?.url).toBe('https://agent:secret@agents.example/post_prompt')
    expect(turns).toMatchObject({ endOfSpeechMs: 800, speechEventMs: 1000, bargeConfidence: 0 })
    expect(params.model).toBe('gpt-4o-mini')
    expect(defaultWebhook?.url).toBe('https://agent:secret@agents.example/swaig')
    expect(functions.map(({ name }) => name)).toEqual(['start_questions', 'submit_answer'])
    expect(functions[1]).toMatchObject({
      active: true,
      webhook: {
        url: 'https://agent:secret@agents.example/swaig?__token=ghi.jkl&function=submit_answer',
      },
      fillers: { 'en-US': ['One moment.', 'Let me note that.'] },
      parameters: { required: ['answer'] },
    })
    expect(functions[0]?.metaDataToken).not.toBe(functions[1]?.metaDataToken)
  })

  it('with skills is read, and doubtful parts are warnings', () => {
    expect(warningsOf(skills)).toEqual([
      '/SWAIG/functions/3/function is next_step, a function of the gateway; it is left out',
      '/params/some_new_param is unknown and has no effect',
    ])
    const document = read(skills)
    expect(document.params.all).toMatchObject({ some_new_param: true })
    expect(document.params).toMatchObject({
      volumeDb: 5,
      waitForUser: false,
      timeZone: 'America/New_York',
      background: { url: 'https://cdn.example/office.mp3', volumeDb: -30 },
    })
    expect(document.hints).toEqual(['SWAIG', 'SWML', 'SignalWire'])
    expect(document.corrections).toEqual([
      { replace: 'signal ?wire', with: 'SignalWire', ignoreCase: true, isPattern: true },
    ])
    expect(document.pronounce).toEqual([{ replace: 'API', with: 'A P I', ignoreCase: false }])
    expect(document.languages).toEqual([
      {
        name: 'English',
        code: 'en-US',
        voice: 'elevenlabs.rachel:eleven_turbo_v2_5',
        speechFillers: ['hm'],
        functionFillers: ['one moment'],
      },
      {
        name: 'Spanish',
        code: 'es',
        voice: 'polly.Lupe',
        voiceSettings: { speed: 1.1 },
        speechFillers: ['vale'],
        functionFillers: ['vale'],
      },
    ])
    expect(document.defaultWebhook?.url).toBe('https://u:p%3Aw@agents.example/swaig')
    expect(document.nativeFunctions).toEqual(['check_time', 'wait_seconds'])
    expect(document.includes).toEqual([
      { target: { url: 'https://a:b@more.example/swaig' }, functions: ['search'], metaData: { k: 'v' } },
    ])
    expect(document.internalFillers).toEqual({ check_time: { 'en-US': ['Looking at the clock.'] } })
    expect(document.mcpServers).toEqual([
      {
        url: 'https://mcp.example/mcp',
        headers: { authorization: 'Bearer x' },
        resources: true,
        resourceVars: {},
      },
    ])
    const [joke, hook, old] = document.functions
    expect(joke?.dataMap).toBeDefined()
    expect(hook).toMatchObject({ name: 'startup_hook', metaDataToken: 'shared' })
    expect(old).toMatchObject({ description: 'Old names', active: 3 })
  })

  it('with contexts has their steps and questions', () => {
    expect(warningsOf(contextsDemo)).toEqual([])
    const { contexts } = read(contextsDemo)
    expect([...contexts.keys()]).toEqual(['default', 'sales', 'support'])
    const [greeting, details, done] = contexts.get('default')?.steps ?? []
    expect(greeting).toMatchObject({
      name: 'greeting',
      functions: [],
      validContexts: ['sales', 'support'],
      validSteps: ['next'],
      criteria: 'The caller said what they need',
    })
    expect(details).toMatchObject({
      text: '## Task\n\n- Ask for the budget',
      gather: {
        outputKey: 'profile',
        completionAction: 'next_step',
        questions: [
          { key: 'age', type: 'integer', confirm: true },
          { key: 'member', type: 'boolean', functions: ['lookup'], confirm: false },
        ],
      },
    })
    expect(done).toMatchObject({ end: true, skipUserTurn: true })
    expect(contexts.get('sales')).toMatchObject({
      isIsolated: true,
      reset: { systemPrompt: 'You are in sales.', consolidate: true, fullReset: false },
      enterFillers: { default: ['One moment.'] },
      steps: [{ reset: { systemPrompt: 'Sell.', fullReset: true } }],
    })
  })
})

describe('defaults', () => {
  const document = read({ prompt })

  it('of turns are those of the language', () => {
    expect(document.turns).toEqual({
      endOfSpeechMs: 700,
      isSemantic: true,
      semanticMs: 250,
      firstWordMs: 1000,
      speechEventMs: 1400,
      maxSpeechMs: 60_000,
      confidence: 0.6,
      barge: 'any',
      bargeMinWords: 0,
      bargeConfidence: 0,
      bargeFunctions: true,
      transparentBargeMs: 3000,
      attentionMs: 5000,
      inactivityMs: 600_000,
      keyMs: 3000,
      keyTerminators: '',
    })
  })

  it('of parameters are those of the language', () => {
    expect(document.params).toEqual({
      name: 'computer',
      initialDelayMs: 0,
      waitForUser: false,
      isPaused: false,
      canPause: false,
      volumeDb: 0,
      outboundAttentionMs: 120_000,
      allowSettings: true,
      allowScripts: true,
      allowGlobalData: true,
      postConversation: false,
      postVariables: false,
      persistGlobalData: true,
      inputPollMs: 2000,
      saveConversation: false,
      history: [],
      transferSummary: false,
      appName: 'swml app',
      timeZone: 'US/Central',
      accounting: false,
      debugLevel: 1,
      redact: false,
      all: {},
    })
  })

  it('of everything else are empty', () => {
    const { prompt: _, turns, params, ...rest } = document
    expect(rest).toEqual({
      contexts: new Map(),
      globalData: {},
      hints: [],
      corrections: [],
      languages: [{ name: 'English', code: 'en-US' }],
      pronounce: [],
      functions: [],
      includes: [],
      nativeFunctions: [],
      internalFillers: {},
      mcpServers: [],
    })
  })
})

describe('parameters', () => {
  const params = (params: object) => read({ prompt, params })

  it.each([
    ['end_of_speech_timeout', '1500', 'endOfSpeechMs', 1500],
    ['end_of_speech_timeout', 10, 'endOfSpeechMs', 250],
    ['end_of_speech_timeout', '%{soon}', 'endOfSpeechMs', 700],
    ['attention_timeout', 0, 'attentionMs', 0],
    ['attention_timeout', 3000, 'attentionMs', 3000],
    ['enable_turn_detection', 'false', 'isSemantic', false],
    ['enable_barge', 'complete', 'barge', 'complete'],
    ['enable_barge', 'complete,partial', 'barge', 'any'],
    ['enable_barge', 'Partial', 'barge', 'partial'],
    ['enable_barge', false, 'barge', 'none'],
    ['enable_barge', 'all', 'barge', 'any'],
    ['enable_barge', 'perhaps', 'barge', 'any'],
    ['barge_min_words', '4', 'bargeMinWords', 4],
    ['transparent_barge', 'false', 'transparentBargeMs', 0],
    ['hard_stop_time', '1h45m30s', 'hardStopMs', 6_330_000],
    ['hard_stop_time', '1:30', 'hardStopMs', 90_000],
    ['hard_stop_time', 90, 'hardStopMs', 90_000],
    ['hard_stop_time', 'never', 'hardStopMs', undefined],
    ['interrupt_prompt', 'Listen.', 'interruptPrompt', 'Listen.'],
    ['digit_terminators', '#', 'keyTerminators', '#'],
  ])('%s: %j becomes %s: %j', (key, value, name, expected) => {
    expect(Object.entries(params({ [key]: value }).turns).find(([each]) => each === name)?.[1]).toEqual(
      expected,
    )
  })

  it('of a greeting protect it', () => {
    const greeting = (given: object) => params(given).params.greeting
    expect(greeting({ static_greeting: 'Hello' })).toEqual({ text: 'Hello', isInterruptible: true })
    expect(greeting({ static_greeting: 'Hello', static_greeting_no_barge: 'true' })).toEqual({
      text: 'Hello',
      isInterruptible: false,
    })
    expect(greeting({ static_greeting_no_barge: 'Hello' })).toEqual({ text: 'Hello', isInterruptible: false })
    expect(greeting({ static_greeting_no_barge: true })).toBeUndefined()
  })

  it('without effect are named in one warning, and others in one each', () => {
    const given = { debug: true, vad_config: '50', summary_mode: 'string', dance: 1, ai_volume: 1 }
    expect(warningsOf({ prompt, params: given })).toEqual([
      '/params has no effect here: debug, vad_config, summary_mode',
      '/params/dance is unknown and has no effect',
    ])
    const multilingual = { start_language: 'de', min_switch_words: 3 }
    expect(warningsOf({ prompt, multilingual })).toEqual([
      '/multilingual/min_switch_words has no effect here',
    ])
  })

  it('without effect are those of the table in the documentation', () => {
    const page = readFileSync(new URL('../../docs/agent-documents.md', import.meta.url), 'utf8')
    const [, table = ''] = page.split('These are accepted and have no effect')
    const [rows = ''] = table.split('\n## ')
    const named = [...rows.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name)
    expect(new Set(named)).toEqual(paramsWithoutEffect)
    expect(named).toHaveLength(paramsWithoutEffect.size)
  })

  it('of a wake name need speak_when_spoken_to', () => {
    expect(params({ ai_name: 'Max' }).turns.wakeName).toBeUndefined()
    expect(params({ ai_name: 'Max', speak_when_spoken_to: true, wake_prefix: 'hey' }).turns.wakeName).toBe(
      'hey Max',
    )
  })

  it('outside of their range are named in a warning', () => {
    expect(
      warningsOf({ prompt, params: { end_of_speech_timeout: 99_999, ai_volume: 'loud', debug: true } }),
    ).toEqual([
      '/params/ai_volume must be a number',
      '/params/end_of_speech_timeout must be a number from 250 to 10000; 10000 is used',
      '/params has no effect here: debug',
    ])
  })

  it('may contain earlier messages and names of variables', () => {
    const { history, postVariables } = params({
      convo: [{ role: 'user', content: 'Hi', lang: 'en' }, { role: 'robot', content: 'x' }, 5],
      swaig_post_swml_vars: 'a, b',
    }).params
    expect(history).toEqual([{ role: 'user', content: 'Hi', language: 'en' }])
    expect(postVariables).toEqual(['a', 'b'])
  })
})

describe('a document that cannot run', () => {
  it.each([
    [5, ' must be an object'],
    [{}, '/prompt must be an object with text, pom or contexts'],
    [{ prompt: 5 }, '/prompt must be an object'],
    [{ prompt: {} }, '/prompt must have text, pom or contexts'],
    [{ prompt: { text: '  ' } }, '/prompt must have text, pom or contexts'],
    [{ prompt, params: [] }, '/params must be an object'],
    [{ prompt, SWAIG: 'x' }, '/SWAIG must be an object'],
    [{ prompt, languages: {} }, '/languages must be a list'],
    [{ prompt: { contexts: [] } }, '/prompt/contexts must be an object of contexts'],
  ])('%j has the fault %s', (value, fault) => {
    expect(faultsOf(value)).toContain(fault)
  })

  const contexts = (contexts: object) => faultsOf({ prompt: { text: 'x', contexts } })
  const step = { name: 'a', text: 'A' }

  it.each([
    [{ other: { steps: [step] } }, '/prompt/contexts must have a context with the name default'],
    [{ default: { steps: [] } }, '/prompt/contexts/default/steps must be a list of steps'],
    [{ default: 5 }, '/prompt/contexts/default must be an object with steps'],
    [
      { default: { steps: [step, step] } },
      '/prompt/contexts/default/steps/1/name must not be the name of an earlier step',
    ],
    [{ default: { steps: [{ name: 'next' }] } }, '/prompt/contexts/default/steps/0/name must not be next'],
    [
      { default: { steps: Array.from({ length: 101 }, (_, at) => ({ name: `s${at}` })) } },
      '/prompt/contexts/default/steps must have at most 100 steps',
    ],
    [
      Object.fromEntries(
        Array.from({ length: 51 }, (_, at) => [at === 0 ? 'default' : `c${at}`, { steps: [step] }]),
      ),
      '/prompt/contexts must have at most 50 contexts',
    ],
  ])('contexts are checked (%#)', (value, fault) => {
    expect(contexts(value)).toEqual([fault])
  })

  it('is rejected by its size before anything else', () => {
    expect(faultsOf({ prompt: { text: 'x'.repeat(2_000_001) } })).toEqual([
      ' has more than 2000000 characters',
    ])
    expect(faultsOf({ prompt, hints: new Array(100_001).fill('') })).toEqual([' has more than 100000 values'])
    let deep: unknown = 'x'
    for (let level = 0; level < 100; level++) deep = { subsections: [deep] }
    expect(faultsOf({ prompt: { pom: [deep] } })).toEqual([' has more than 64 levels'])
  })
})

describe('languages', () => {
  const languages = (value: object) => read({ prompt, ...value }).languages

  it('may have several tags, of which the first one counts', () => {
    expect(languages({ languages: [{ name: 'A', code: ['de', 'fr'], voice: 'x' }] })).toEqual([
      { name: 'A', code: 'de', voice: 'x' },
    ])
    expect(languages({ languages: [{ listen_language: 'fr' }] })).toEqual([{ name: 'French', code: 'fr' }])
  })

  it('of multilingual follow the caller', () => {
    const document = read({
      prompt,
      languages: [{ name: 'Ignored', code: 'xx' }],
      multilingual: {
        languages: [
          { language: 'es', voice: 'lupe', engine: 'polly' },
          { language: 'default', voice: 'rime.spore', params: { speed: 1 } },
        ],
        allowed: ['en', 'es', 'fr'],
        engine: 'deepgram',
        fillers: { es: ['a ver'], default: ['well'] },
      },
    })
    expect(document.params.recogniser).toBe('deepgram:nova-3')
    const own = { voice: 'rime.spore', voiceSettings: { speed: 1 }, speechFillers: ['well'] }
    expect(document.languages).toEqual([
      { name: 'English', code: 'multi', ...own },
      { name: 'English', code: 'en', ...own },
      { name: 'Spanish', code: 'es', voice: 'polly.lupe', speechFillers: ['a ver'] },
      { name: 'French', code: 'fr', ...own },
    ])
  })
})

describe('functions', () => {
  const functions = (functions: readonly unknown[], more: object = {}) =>
    read({ prompt, SWAIG: { functions, ...more } }).functions

  it.each([
    ['endless', true],
    ['false', false],
    ['0', false],
    [2, 2],
    ['2', 2],
    [1, 1],
    [{}, true],
  ])('with active: %j are %j', (active, expected) => {
    expect(functions([{ function: 'a', description: 'A', active }])[0]?.active).toBe(expected)
  })

  it('share meta data if they share a webhook', () => {
    const [a, b, c] = functions(
      [
        { function: 'a', description: 'A' },
        { function: 'b', description: 'B', web_hook_url: 'https://x.example' },
        { function: 'c', description: 'C', web_hook_url: 'https://y.example' },
      ],
      { defaults: { web_hook_url: 'https://x.example' } },
    )
    expect(a?.metaDataToken).toBe(b?.metaDataToken)
    expect(a?.metaDataToken).not.toBe(c?.metaDataToken)
  })

  it('with unusable parts are left out, or have defaults', () => {
    const value = {
      prompt,
      SWAIG: {
        functions: [
          { function: 'get weather', description: 'A' },
          { description: 'B' },
          5,
          { function: 'c', description: 'C', web_hook_url: 'ftp://x', wait_file: 'https://x/y.mp3' },
          { function: 'c', description: 'again' },
          { function: 'd', parameters: { city: { type: 'string' } } },
        ],
      },
    }
    expect(warningsOf(value)).toEqual([
      '/SWAIG/functions/2 must be an object',
      '/SWAIG/functions/0/function must be a name of at most 64 letters, digits, _ and -; it is left out',
      '/SWAIG/functions/1 must have the name of a function; it is left out',
      '/SWAIG/functions/3/web_hook_url must be an http(s) URL; it is not used',
      '/SWAIG/functions/4/function is the name of an earlier function; it is left out',
      '/SWAIG/functions/5/description must be a text',
    ])
    const [c, d] = read(value).functions
    expect(c).toMatchObject({ name: 'c', waitSound: { url: 'https://x/y.mp3', loops: 10_000 } })
    expect(c?.webhook).toBeUndefined()
    expect(d?.parameters).toEqual({ type: 'object', properties: { city: { type: 'string' } } })
  })
})
