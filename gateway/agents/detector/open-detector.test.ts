import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AgentDetectorConfig } from '../../../config/types.ts'
import { FakeClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { openDetector } from './open-detector.ts'
import type { SileroDeps } from './silero-thread.ts'
import { FakeRuntimeFolder } from './testing/fake-runtime.ts'

let folder: FakeRuntimeFolder

beforeEach(() => {
  folder = new FakeRuntimeFolder()
})

afterEach(() => folder.close())

/** Opens the detector with real threads. `events` resolves when as many lines were logged. */
const open = (changes: Partial<AgentDetectorConfig> = {}) => {
  const logged: Readonly<Record<string, unknown>>[] = []
  const waiting: { readonly count: number; readonly resolve: (lines: typeof logged) => void }[] = []
  const keep = (fields: Readonly<Record<string, unknown>>) => {
    logged.push(fields)
    for (const { count, resolve } of waiting) if (logged.length >= count) resolve(logged)
  }
  const clock = new FakeClock()
  const deps = {
    clock,
    log: { info: keep, warn: keep } as unknown as Log,
    metrics: { agentDetectorFailures: { inc: () => {} } },
  } as unknown as SileroDeps
  const config = { folder: folder.path, runtime: 'onnxruntime-node', threshold: 0.5, ...changes } as const
  const detector = openDetector(config, deps)
  const events = (count: number) =>
    new Promise<typeof logged>((resolve) => {
      if (logged.length >= count) resolve(logged)
      else waiting.push({ count, resolve })
    })
  return { detector, clock, logged, events }
}

/** Window with sound in all samples, or in the first 64 of them. */
const loud = new Int16Array(256).fill(20_000)
const quarter = Int16Array.from({ length: 256 }, (_, at) => (at < 64 ? 20_000 : 0))

describe('The detector', () => {
  it('runs the model in one thread for all calls', async () => {
    folder.install()
    const { detector, events } = open()
    const found: unknown[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const add = (name: string) => (probability: number) => {
      found.push([name, probability])
      if (found.length === 3) resolve()
    }
    const one = detector!.open(add('one'))
    const two = detector!.open(add('two'))
    expect(await events(1)).toMatchObject([{ event: 'agent.detector-ready' }])
    one.begin()
    two.begin()
    one.hear(loud)
    two.hear(quarter)
    one.hear(new Int16Array(256))
    await promise
    expect(found).toEqual([
      ['one', 1],
      ['two', 0.25],
      ['one', 0],
    ])
    await detector!.close()
  })

  it('survives the death of its thread', async () => {
    folder.install()
    const { detector, clock, events } = open()
    const { promise, resolve } = Promise.withResolvers<number>()
    const stream = detector!.open(resolve)
    await events(1)
    stream.begin()
    stream.hear(new Int16Array(256).fill(-32_768))
    expect((await events(2))[1]).toMatchObject({
      event: 'agent.detector-failed',
      failure: 'ended',
      reason: 'The thread ended with code 7.',
    })
    expect(stream.hear(loud)).toBe(false)
    clock.advance(5000)
    await events(3)
    stream.begin()
    stream.hear(loud)
    expect(await promise).toBe(1)
    await detector!.close()
  })

  it('reports a model that cannot be loaded', async () => {
    folder.install('broken')
    const { detector, events } = open()
    const stream = detector!.open(() => {})
    expect(await events(1)).toMatchObject([
      { event: 'agent.detector-failed', failure: 'broken', reason: 'no such model' },
    ])
    expect(stream.hear(loud)).toBe(false)
  })

  it('is absent without its packages, and the log has the command that installs them', () => {
    const { detector, logged } = open()
    expect(detector).toBeUndefined()
    expect(logged).toEqual([
      {
        event: 'agent.detector-missing',
        reason: `onnxruntime-node is not installed in ${folder.path}.`,
        command: `npm install --ignore-scripts --prefix ${folder.path} onnxruntime-node @ricky0123/vad-web`,
      },
    ])
  })

  it.each([
    ['no folder', { folder: '/nowhere' }, 'There is no folder /nowhere.'],
    ['no file', { model: '/nowhere.onnx' }, 'There is no file /nowhere.onnx.'],
    ['no model', { model: '/dev/null' }, '/dev/null is no model.'],
  ])('is absent with %s', (_, changes, reason) => {
    folder.install()
    expect(open(changes).logged).toMatchObject([{ event: 'agent.detector-missing', reason }])
  })

  it('is absent with a model that is too large', () => {
    folder.install()
    const model = join(folder.path, 'large.onnx')
    writeFileSync(model, new Uint8Array(32 * 1024 * 1024 + 1))
    expect(open({ model }).logged).toMatchObject([{ reason: `${model} is no model.` }])
  })

  it('is absent if any user can write into the folder', () => {
    folder.install()
    chmodSync(folder.path, 0o777)
    expect(open().logged).toMatchObject([{ reason: `Any user can write to ${folder.path}.` }])
  })
})
