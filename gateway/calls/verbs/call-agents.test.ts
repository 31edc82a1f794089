import { describe, expect, it } from 'vitest'
import type { AgentOptions } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Call } from '../call/call.ts'
import { type AgentSource, CallAgents, type VoiceAgent } from './call-agents.ts'

const settle = () => new Promise(setImmediate)

/** Call that is answered or ringing, with an agent whose first words a test prepares. */
const setUp = (isAnswered: boolean) => {
  const seen: string[] = []
  const port = { id: 'port' } as MediaPort
  const caller = { isAnswered, port: isAnswered ? port : undefined }
  const end = new AbortController()
  const call = {
    caller,
    signal: end.signal,
    info: { callId: 'c', projectId: 'p' },
    onPartiesChanged: () => {},
    onDigit: () => () => {},
    whileUp: (work: Promise<unknown>) => work,
    openAudio: async () => {
      if (!caller.isAnswered) seen.push('answered')
      Object.assign(caller, { isAnswered: true, port })
      return port
    },
  }
  const prepared = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<never>()
  const agent = {
    prepared: prepared.promise,
    ended: ended.promise,
    moveTo: ({ id }: MediaPort) => seen.push(`moved to ${id}`),
    hangUp: () => seen.push('hung up'),
    stop: () => seen.push('stopped'),
  } as Partial<VoiceAgent> as VoiceAgent
  const sources: AgentSource[] = []
  const starter = {
    start: async (source: AgentSource) => {
      sources.push(source)
      seen.push('started')
      return agent
    },
  }
  const agents = new CallAgents(starter, call as unknown as Call)
  return { agents, call, seen, sources, prepared, end }
}

const options = {} as AgentOptions

describe('CallAgents', () => {
  it('answer a call when the first words of its agent are prepared', async () => {
    const { agents, seen, sources, prepared } = setUp(false)
    const started = agents.start(options)
    await settle()
    expect(seen).toEqual(['started'])
    expect(sources[0]?.port).toBeUndefined()
    prepared.resolve()
    await started
    expect(seen.slice(0, 3)).toEqual(['started', 'answered', 'moved to port'])
  })

  it('give the agent of an answered call its port at once', async () => {
    const { agents, seen, sources } = setUp(true)
    await agents.start(options)
    expect([seen, sources[0]?.port?.id]).toEqual([['started'], 'port'])
  })

  it('end the agent of a call that cannot be answered', async () => {
    const { agents, call, seen, prepared } = setUp(false)
    call.openAudio = () => Promise.reject(new Error('gone'))
    prepared.resolve()
    await expect(agents.start(options)).rejects.toThrow('gone')
    expect(seen).toEqual(['started', 'hung up'])
  })

  it('end the agent of a call that ended meanwhile', async () => {
    const { agents, seen, end } = setUp(true)
    end.abort()
    await expect(agents.start(options)).rejects.toThrow()
    expect(seen).toEqual(['started', 'hung up'])
  })
})
