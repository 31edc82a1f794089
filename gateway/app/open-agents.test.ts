import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import type { MediaPort, Sounds } from '../../media/types.ts'
import { FakeRuntimeFolder } from '../agents/detector/testing/fake-runtime.ts'
import { conversationOptions } from '../agents/testing/conversation-rig.ts'
import { FakeTap } from '../agents/testing/fake-tap.ts'
import { FakeClock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { Metrics } from '../core/metrics.ts'
import { ConfigFollowers } from '../directory/provision/config-followers.ts'
import { CloseStack } from './close-stack.ts'
import type { AppContext } from './open.ts'
import { openAgents } from './open-agents.ts'

let folder: FakeRuntimeFolder
let closing: CloseStack

beforeEach(() => {
  folder = new FakeRuntimeFolder()
})

afterEach(async () => {
  await closing.close()
  folder.close()
})

/** Loads a configuration with an engine, which no test reaches, and with this detector. */
const configOf = (detector: object) => {
  const file = join(folder.path, 'trunkline.yaml')
  const own = { kind: 'ultravox', url: 'http://127.0.0.1:9' }
  writeFileSync(file, JSON.stringify({ agents: { engines: { own }, detector } }))
  return loadConfig(file, {})
}

/** Opens the agents. `logged` resolves with the line of an event. */
const open = (detector: object) => {
  const lines: Readonly<Record<string, unknown>>[] = []
  let wake = () => {}
  const keep = (fields: Readonly<Record<string, unknown>>) => {
    lines.push(fields)
    wake()
  }
  const log = { info: keep, warn: keep, error: keep, child: () => log } as unknown as Log
  const logged = async (event: string, count = 1): Promise<unknown> => {
    const found = () => lines.filter((line) => line.event === event)
    while (found().length < count)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    return found()[count - 1]
  }
  closing = new CloseStack(log)
  const followers = new ConfigFollowers()
  const config = configOf(detector)
  const base = { config, clock: new FakeClock(), log, closing, followers } as unknown as AppContext
  const sounds = { prepare: () => Promise.reject(new Error('no voice')) } as Partial<Sounds> as Sounds
  const agents = openAgents(base, sounds, {} as never, new Metrics())
  const change = async (next: object) => {
    const prepared = await followers.prepare(configOf(next), config)
    expect(prepared.commit(log)).toEqual([])
  }
  const start = () => {
    const port = { id: 'port', tap: () => new FakeTap() } as Partial<MediaPort> as MediaPort
    const source = { callId: 'call', projectId: 'default', port, signal: new AbortController().signal }
    return agents.start(source as never, conversationOptions())
  }
  return { change, logged, lines, start }
}

describe('the detector of agents', () => {
  it('is missed at start with a warning, and agents run without it', async () => {
    const { logged, lines, start } = open({ kind: 'silero', folder: '.' })
    expect(await logged('agent.detector-missing')).toMatchObject({
      reason: `onnxruntime-node is not installed in ${folder.path}.`,
    })
    await start()
    await start()
    expect(lines.filter(({ event }) => event === 'agent.detector-missing')).toHaveLength(1)
  })

  it('is loaded with the first agent, and again after a change', async () => {
    folder.install()
    const { change, logged, lines, start } = open({ kind: 'silero', folder: '.' })
    await start()
    await logged('agent.detector-ready')
    await change({ kind: 'silero', folder: '.', threshold: 0.6 })
    await start()
    await logged('agent.detector-ready', 2)
    await change({ kind: 'silero', folder: 'elsewhere' })
    await logged('agent.detector-missing')
    expect(lines.filter(({ event }) => String(event).startsWith('agent.detector'))).toHaveLength(3)
  })

  it('is not loaded if the level counts alone', async () => {
    folder.install()
    const { lines, start } = open({})
    await start()
    expect(lines.filter(({ event }) => String(event).startsWith('agent.detector'))).toEqual([])
  })
})
