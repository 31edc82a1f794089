import { expect, it } from 'vitest'
import type { AgentEvent, AgentOptions } from '../../handlers/verbs.ts'
import type { MediaPort, Prompt, TapRequest } from '../../media/types.ts'
import { FakeClock } from '../core/clock.ts'
import { Conversation } from './conversation.ts'
import { FakeEngine } from './testing/fake-engine.ts'
import { FakeTap } from './testing/fake-tap.ts'
import { defaultRules } from './turns/turns-rig.ts'

const prompt: Prompt = { samples: new Int16Array(new SharedArrayBuffer(160)), sampleRate: 8000 }
const settle = () => new Promise(setImmediate)

const start = (more: Partial<AgentOptions> = {}) => {
  const tap = new FakeTap()
  const requests: TapRequest[] = []
  const open = (request: TapRequest) => {
    requests.push(request)
    return tap
  }
  const port = { id: 'p', tap: open } as unknown as MediaPort
  const events: AgentEvent[] = []
  const failure = new Error('https://x.example/gone.wav: HTTP 404')
  const conversation = new Conversation(
    port,
    {
      prompt: '',
      functions: [],
      languages: [{ name: 'English', code: 'en-US' }],
      hints: [],
      pronounce: [],
      corrections: [],
      modelSettings: {},
      turns: defaultRules,
      history: [],
      runFunction: async () => ({ text: '' }),
      onEvent: (event) => events.push(event),
      ...more,
    },
    {
      warnings: [],
      id: 'a',
      projectId: 'p',
      engines: [new FakeEngine()],
      clock: new FakeClock(),
      functionTimeoutMs: 1000,
      render: async () => undefined,
      loadSound: async (url, on) => {
        expect(on).toBe(port)
        if (url.endsWith('gone.wav')) throw failure
        return prompt
      },
      complete: async () => '',
      observer: {
        onEngineFailure: () => {},
        onResponse: () => {},
        onInterruption: () => {},
        onSound: () => {},
        onError: (error) => {
          throw error
        },
      },
    },
  )
  return { conversation, tap, requests, events }
}

it('plays a sound behind its conversation until the end', async () => {
  const { conversation, tap } = start()
  conversation.background({ url: 'https://x.example/rain.wav', volumeDb: -12, loops: 2 })
  await settle()
  const played = ['background', { ...prompt, volumeDb: -12, loops: 2 }]
  expect(tap.commands).toContainEqual(played)
  conversation.hangUp()
  conversation.background({ url: 'https://x.example/rain.wav', volumeDb: -12 })
  await settle()
  expect(tap.commands.at(-1)).toEqual(['background', undefined])
})

it('reports a sound that cannot be loaded, and goes on', async () => {
  const { conversation, events } = start()
  conversation.background({ url: 'https://x.example/gone.wav', volumeDb: 0 })
  await settle()
  const [warning] = events.filter(({ kind }) => kind === 'warning')
  expect(warning).toMatchObject({ code: 'background-failed', message: expect.stringContaining('404') })
  expect(events.some(({ kind }) => kind === 'ended')).toBe(false)
})

it('speaks with the gain of its document', () => {
  expect(start({ volumeDb: -6 }).requests[0]).toMatchObject({ speechDb: -6 })
})
