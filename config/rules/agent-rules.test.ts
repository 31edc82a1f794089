// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is a variable of the configuration.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { effectiveConfig } from '../effective-config.ts'
import { testFolder } from '../testing/config-test-folder.ts'

const folder = testFolder()
const load = (agents: string, env: Record<string, string> = {}) =>
  folder.load(`agents: ${agents}`, env).agents
const faultsOf = (agents: string) =>
  folder.faultsOf(`agents: ${agents}`).map(({ path, message, code }) => `${path} ${message} [${code}]`)

const pipeline = `
  engines:
    own: { kind: pipeline, recognisers: ears, models: [small, large], fallback: cloud }
    cloud: { kind: openai-realtime, model: gpt-realtime, key: "\${KEY}", longestSession: 50m }
  default: own
  recognisers:
    ears: { kind: vosk, url: "ws://10.0.0.6:2700" }
    flux: { kind: deepgram-flux, key: "\${KEY}" }
  models:
    small: { kind: openai, url: "http://10.0.0.7:11434/v1", model: qwen3, temperature: 0.2 }
    large: { kind: openai, key: "\${KEY}", model: gpt-4.1-mini, auth: api-key, timeout: 5s }
  voices:
    rachel: { kind: elevenlabs, key: "\${KEY}", voice: 21m00 }
    house: { kind: media, voice: cloud }
  names:
    models: { "gpt-4o*": small }
    voices: { "elevenlabs.*": rachel, "*": built-in }
    recognisers: { "deepgram:nova-3": flux }
media: { speech: { voices: { cloud: { engine: built-in } } } }
`

describe('agents', () => {
  it('have engines with the URLs of hosted services', () => {
    const { engines, recognisers, models, voices, default: first } = load(pipeline, { KEY: 'k3y' })
    expect(first).toBe('own')
    expect(engines).toEqual({
      own: {
        kind: 'pipeline',
        recognisers: ['ears'],
        models: ['small', 'large'],
        voices: ['built-in'],
        fallback: 'cloud',
      },
      cloud: {
        kind: 'openai-realtime',
        url: 'wss://api.openai.com/v1/realtime',
        model: 'gpt-realtime',
        key: 'k3y',
        longestSessionMs: 3_000_000,
      },
    })
    expect(recognisers.flux).toEqual({
      kind: 'deepgram-flux',
      url: 'wss://api.deepgram.com/v2/listen',
      key: 'k3y',
    })
    expect(models).toEqual({
      small: {
        kind: 'openai',
        url: 'http://10.0.0.7:11434/v1',
        model: 'qwen3',
        temperature: 0.2,
        timeoutMs: 10_000,
      },
      large: {
        kind: 'openai',
        url: 'https://api.openai.com/v1',
        key: 'k3y',
        model: 'gpt-4.1-mini',
        auth: 'api-key',
        timeoutMs: 5000,
      },
    })
    expect(voices.house).toEqual({ kind: 'media', voice: 'cloud' })
  })

  it('have the options of servers that differ from the usual ones', () => {
    const { engines, models } = load(`
  default: local
  engines:
    local:
      kind: openai-realtime
      url: "ws://10.0.0.8:8000/v1/realtime"
      model: m
      dialect: beta
      output: text
      semanticTurns: true
      serverInterrupts: false
      truncation: false
    gem: { kind: gemini-live, model: g, key: k, auth: bearer, notes: false }
    eleven:
      { kind: elevenlabs-agent, agentId: a, key: k, overrides: false, signingUrl: "https://a.example/sign" }
  models:
    small: { kind: openai, url: "http://10.0.0.7:11434/v1", model: qwen3, laterRole: user }`)
    expect(engines.local).toMatchObject({
      output: 'text',
      voices: ['built-in'],
      semanticTurns: true,
      serverInterrupts: false,
      truncation: false,
    })
    expect(engines.gem).toMatchObject({ auth: 'bearer', notes: false })
    expect(engines.eleven).toMatchObject({ overrides: false, signingUrl: 'https://a.example/sign' })
    expect(models.small).toMatchObject({ laterRole: 'user' })
  })

  it('have the only engine as default', () => {
    const one = '{ engines: { one: { kind: elevenlabs-agent, agentId: a, key: k } } }'
    expect(load(one).default).toBe('one')
  })

  it('never show their keys', () => {
    const file = join(folder.path, 'trunkline.yaml')
    writeFileSync(file, `agents: ${pipeline}`)
    const text = JSON.stringify(effectiveConfig(file, { KEY: 'very-secret' }))
    expect(text).not.toContain('very-secret')
    expect(text).toContain('"key":"agents.engines.cloud.key","value":"(secret)","origin":"environment"')
  })

  it.each<[string, string[]]>([
    [
      '{ engines: { a: { kind: pipeline } } }',
      [
        'agents.engines.a must have recognisers if kind is pipeline [missing-key]',
        'agents.engines.a must have models if kind is pipeline [missing-key]',
      ],
    ],
    [
      '{ engines: { a: { kind: pipeline, recognisers: r, models: [m], voices: v } }, models: { n: { kind: openai, url: "http://a.example/v1", model: x } } }',
      [
        'agents.engines.a.recognisers must be a name of agents.recognisers [unknown-name]',
        'agents.engines.a.models[0] must be a name of agents.models [unknown-name]',
        'agents.engines.a.voices must be a name of agents.voices [unknown-name]',
      ],
    ],
    [
      '{ engines: { a: { kind: openai-realtime } } }',
      [
        'agents.engines.a must have model if kind is openai-realtime [missing-key]',
        'agents.engines.a must have key for the hosted service, or the url of another server [missing-key]',
      ],
    ],
    [
      '{ engines: { a: { kind: ultravox, url: "wss://a.example", dialect: beta } } }',
      [
        'agents.engines.a.url must be an http or https URL if kind is ultravox [conflict]',
        'agents.engines.a.dialect is not permitted if kind is ultravox [misplaced-key]',
      ],
    ],
    [
      '{ engines: { a: { kind: elevenlabs-agent, key: k, agentId: i, format: pcma } } }',
      ['agents.engines.a.format must be pcmu or pcm if kind is elevenlabs-agent [conflict]'],
    ],
    [
      '{ engines: { a: { kind: elevenlabs-agent, agentId: i, signingUrl: "https://a.example/sign", url: "wss://a.example" } } }',
      [
        'agents.engines.a must have key if there is signingUrl [missing-key]',
        'agents.engines.a.url is not permitted beside signingUrl [misplaced-key]',
      ],
    ],
    [
      '{ engines: { a: { kind: gemini-live, key: k, model: g, auth: api-key } } }',
      ['agents.engines.a.auth must be bearer if kind is gemini-live [conflict]'],
    ],
    [
      '{ recognisers: { r: { kind: vosk, url: "ws://a.example", language: de } } }',
      ['agents.recognisers.r.language is not permitted if kind is vosk [misplaced-key]'],
    ],
    [
      '{ default: a, engines: { a: { kind: openai-realtime, key: k, model: m, output: text, voice: marin }, b: { kind: openai-realtime, key: k, model: m, voices: built-in } } }',
      [
        'agents.engines.a.voice is not permitted if output is text [misplaced-key]',
        'agents.engines.b.voices is not permitted unless output is text [misplaced-key]',
      ],
    ],
    [
      '{ engines: { a: { kind: ultravox, key: k }, b: { kind: ultravox, key: k } } }',
      ['agents must have default if there are several engines [missing-key]'],
    ],
    [
      '{ default: b, engines: { a: { kind: ultravox, key: k, fallback: a } } }',
      [
        'agents.default must be the name of an engine [unknown-name]',
        'agents.engines.a.fallback must not lead back to the engine itself [conflict]',
      ],
    ],
    [
      '{ recognisers: { r: { kind: vosk } }, voices: { v: { kind: media, voice: x }, built-in: { kind: built-in } } }',
      [
        'agents.recognisers.r must have url if kind is vosk [missing-key]',
        'agents.voices.v.voice must be a name of media.speech.voices [unknown-name]',
        'agents.voices.built-in must have another name; built-in is the built-in voice [conflict]',
      ],
    ],
    [
      '{ names: { models: { gpt-4o: small } }, silence: { endOfSpeech: 100ms } }',
      [
        'agents.names.models.gpt-4o must be a name of agents.models [unknown-name]',
        'agents.silence.endOfSpeech must be from 250ms to 10s [out-of-range]',
      ],
    ],
    ['{ detector: { kind: silero } }', ['agents.detector must have folder if kind is silero [missing-key]']],
    [
      '{ detector: { folder: s, model: s/m.onnx, threshold: 0.1 } }',
      ['agents.detector.threshold must be from 0.2 to 0.95 [out-of-range]'],
    ],
    [
      '{ detector: { kind: level, folder: s, model: m.onnx } }',
      [
        'agents.detector.folder is not permitted if kind is level [misplaced-key]',
        'agents.detector.model is not permitted if kind is level [misplaced-key]',
      ],
    ],
    [
      '{ models: { m: { kind: openai, url: "ftp://a", model: x, temperature: 3 } } }',
      [
        'agents.models.m.url must be an http, https, ws or wss URL without a fragment [wrong-format]',
        'agents.models.m.temperature must be from 0 to 2 [out-of-range]',
      ],
    ],
  ])('have clear faults: %s', (agents, faults) => {
    expect(faultsOf(agents)).toEqual(faults)
  })
})

describe('agents as handlers', () => {
  const at = (handler: string) => `resources: [{ address: /public/a, handler: ${handler} }]`

  it('are objects, also in a file', () => {
    writeFileSync(join(folder.path, 'agent.yaml'), 'prompt: { text: Hi }\n')
    const document = '{"prompt":{"text":"Hi"}}'
    for (const handler of [
      '{ kind: agent, document: { prompt: { text: Hi } } }',
      '{ kind: agent, document: "prompt: { text: Hi }" }',
      '{ kind: agent, file: agent.yaml }',
    ])
      expect(folder.load(at(handler)).resources[0]?.handler).toMatchObject({ kind: 'agent', document })
  })

  it.each([
    ['{ kind: agent, url: "https://a.example/" }', 'resources[0].handler.url', 'is not permitted'],
    ['{ kind: agent, document: "- a" }', 'resources[0].handler.document', 'must be an object'],
    ['{ kind: agent, document: "{" }', 'resources[0].handler.document', 'must be YAML or JSON'],
  ])('have clear faults: %s', (handler, path, message) => {
    const [fault] = folder.faultsOf(at(handler))
    expect(fault).toMatchObject({ path, message: expect.stringContaining(message) })
  })
})
