// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is a variable of the configuration.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { testFolder } from '../testing/config-test-folder.ts'

const folder = testFolder()
const load = (text: string, env: Record<string, string> = {}) => folder.load(text, env).media
const faultsOf = (speech: string) =>
  folder.faultsOf(`media: { speech: ${speech} }`).map(({ path, message }) => `${path} ${message}`)

it('reads voices behind HTTP, with keys from the environment', () => {
  const text = `
media:
  sounds: { folder: ./sounds, maxDuration: 5m }
  speech:
    voice: house
    engines:
      - { name: cloud, kind: openai, url: "https://api.example/v1/audio/speech", model: tts-1, key: "\${KEY}" }
      - name: own
        kind: template
        url: http://10.0.0.5/say
        headers: { X-Voice: "{{voice}}" }
        body: '{"text":"{{text}}"}'
        timeout: 3s
    voices:
      house: { engine: own, voice: anna, language: de-DE }
      polly.*: { engine: cloud, voice: nova, gender: female }
    folder: speech
`
  const { sounds, speech } = load(text, { KEY: 'k3y' })
  expect(sounds).toMatchObject({ folder: join(folder.path, 'sounds'), maxDurationMs: 300_000 })
  expect(speech).toEqual({
    voice: 'house',
    engines: [
      {
        name: 'cloud',
        kind: 'openai',
        url: 'https://api.example/v1/audio/speech',
        model: 'tts-1',
        key: 'k3y',
        timeoutMs: 8000,
        ssml: false,
      },
      {
        name: 'own',
        kind: 'template',
        url: 'http://10.0.0.5/say',
        timeoutMs: 3000,
        ssml: false,
        headers: { 'X-Voice': '{{voice}}' },
        body: '{"text":"{{text}}"}',
      },
    ],
    voices: {
      house: { engine: 'own', voice: 'anna', language: 'de-DE' },
      'polly.*': { engine: 'cloud', voice: 'nova', gender: 'female' },
    },
    folder: join(folder.path, 'speech'),
    folderSize: 256,
  })
})

const url = 'url: "http://a.example/"'
it.each([
  [
    `{ engines: [{ name: a, kind: openai, ${url} }] }`,
    'media.speech.engines[0].model is required if kind is openai',
  ],
  [
    `{ engines: [{ name: a, kind: openai, model: m, ${url}, body: x }] }`,
    'media.speech.engines[0].body is permitted only if kind is template',
  ],
  [
    `{ engines: [{ name: a, kind: template, ${url}, method: GET, body: "{{text}}" }] }`,
    'media.speech.engines[0] must have {{text}} in url, or in the body of a POST',
  ],
  ...['http://{{voice}}.example/', 'http://a{{language}}:80/', 'http://{{text}}@a.example/'].map((host) => [
    `{ engines: [{ name: a, kind: template, url: "${host}", body: "{{text}}" }] }`,
    'media.speech.engines[0].url must not have a placeholder in the host',
  ]),
  [
    `{ engines: [{ name: built-in, kind: openai, model: m, ${url} }] }`,
    'media.speech.engines[0].name must not be built-in, the name of the built-in engine',
  ],
  [
    '{ voices: { polly.a: { engine: cloud } } }',
    'media.speech.voices.polly.a.engine must be built-in or the name of an engine',
  ],
  [
    '{ voices: { a: { engine: built-in, gender: none } } }',
    'media.speech.voices.a.gender must be one of male, female',
  ],
  ['{ voices: { a: { voice: b } } }', 'media.speech.voices.a the key engine is missing'],
])('rejects %s', (speech, fault) => {
  expect(faultsOf(speech)).toEqual([fault])
})

it('reads a recogniser, with its defaults', () => {
  const text = `
media:
  speech:
    recogniser: { url: "ws://10.0.0.6:2700", languages: { de: "wss://asr.example/de" }, token: "\${TOKEN}", timeout: 1s }
`
  expect(load(text, { TOKEN: 'secret' }).speech.recogniser).toEqual({
    url: 'ws://10.0.0.6:2700',
    languages: { de: 'wss://asr.example/de' },
    headers: {},
    token: 'secret',
    sampleRate: 16_000,
    hints: true,
    timeoutMs: 1000,
  })
  expect(load('').speech).not.toHaveProperty('recogniser')
})

it('rejects a recogniser without a WebSocket URL', () => {
  expect(faultsOf('{ recogniser: { url: "http://asr.example" } }')).toEqual([
    'media.speech.recogniser.url must be a ws or wss URL without a fragment',
  ])
  expect(
    faultsOf('{ recogniser: { url: "ws://a.example", languages: { de: "ws://a.example#de" } } }'),
  ).toEqual(['media.speech.recogniser.languages.de must be a ws or wss URL without a fragment'])
  expect(faultsOf('{ recogniser: { url: "ws://a.example", sampleRate: 44100 } }')[0]).toContain('sampleRate')
})
