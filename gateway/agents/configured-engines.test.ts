import { afterEach, expect, it } from 'vitest'
import type { AgentsConfig } from '../../config/types.ts'
import { FakeClock } from '../core/clock.ts'
import { ConfiguredEngines } from './configured-engines.ts'
import type { PartsDeps } from './engines/part-store.ts'

const vosk = (port: number) => ({ kind: 'vosk', url: `ws://127.0.0.1:${port}` }) as const
const realtime = { kind: 'openai-realtime', url: 'ws://127.0.0.1:3', model: 'm' } as const
const pipeline = { kind: 'pipeline', recognisers: ['ears'], models: ['mind'], voices: ['built-in'] } as const

const configOf = (agents: object): AgentsConfig =>
  ({
    engines: {},
    recognisers: { ears: vosk(1), spare: vosk(2) },
    models: { mind: { kind: 'openai', url: 'http://127.0.0.1:4', model: 'm', timeoutMs: 1000 } },
    voices: {},
    names: { models: {}, voices: {}, recognisers: { 'deepgram:*': 'spare' } },
    limits: { callsPerProject: 1, durationMs: 1000, functionTimeoutMs: 1000 },
    ...agents,
  }) as unknown as AgentsConfig

const opened: ConfiguredEngines[] = []

const choose = (agents: object, options: Parameters<ConfiguredEngines['choose']>[0] = {}) => {
  const deps = {
    clock: new FakeClock(),
    log: { warn: () => {} },
    voices: {},
    http: {},
  } as unknown as PartsDeps
  const engines = new ConfiguredEngines(configOf(agents), deps)
  opened.push(engines)
  const warnings: string[] = []
  const chosen = engines.choose({ answers: 'handler', ...options }, (message) => warnings.push(message))
  return { names: chosen.map(({ kind, name }) => `${kind} ${name}`), warnings, engines, chosen }
}

afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())))

it('a handler that answers has the pipelines of the chain, else those of the configuration', () => {
  const both = { engines: { whole: { ...realtime, fallback: 'own' }, own: pipeline }, default: 'whole' }
  expect(choose(both).names).toEqual(['pipeline own'])
  const apart = { engines: { whole: realtime, own: pipeline, other: pipeline }, default: 'whole' }
  expect(choose(apart).names).toEqual(['pipeline own', 'pipeline other'])
})

it('a handler that answers needs only a recogniser', () => {
  expect(choose({}).names).toEqual(['pipeline speech'])
  expect(choose({ engines: { whole: realtime }, default: 'whole' }).names).toEqual(['pipeline speech'])
  expect(choose({ recognisers: {} }).names).toEqual([])
})

it('a handler that answers names a recogniser as documents do, and shares no engine with models', () => {
  const own = { engines: { own: pipeline }, default: 'own' }
  expect(choose(own, { recogniser: 'Deepgram:nova-3' }).warnings).toEqual([])
  expect(choose(own, { recogniser: 'google' }).warnings).toEqual([
    'There is no recogniser google; that of the engine is used.',
  ])
  const { engines, chosen } = choose(own)
  const [byModel] = engines.choose({}, () => {})
  expect(byModel).not.toBe(chosen[0])
  expect(engines.choose({ answers: 'handler' }, () => {})).toEqual(chosen)
})
