/** Sessions and server events of the Realtime protocol, for tests. */
import { FakeClock } from '../../../../core/clock.ts'
import type { EngineRequest } from '../../../engine.ts'
import { FakeVoice } from '../../pipeline/testing/fake-parts.ts'
import { EngineRecorder, engineRequest } from '../../session/testing/engine-recorder.ts'
import type { EngineServer, ServerMessage } from '../../session/testing/engine-server.ts'
import { type RealtimeDeps, RealtimeEngine } from '../realtime.ts'
import type { RealtimeOptions } from '../realtime-options.ts'

/** Opens a session with a server for tests. */
export const setUp = (
  server: EngineServer,
  options: Partial<RealtimeOptions> = {},
  request: Partial<EngineRequest> = {},
  deps: Omit<RealtimeDeps, 'clock'> = {},
) => {
  const clock = new FakeClock()
  const events = new EngineRecorder()
  const engine = new RealtimeEngine(
    { name: 'oai', url: `${server.url}/v1/realtime`, key: 'secret', model: 'm1', ...options },
    { clock, ...deps },
  )
  const link = engine.open(engineRequest(request), events)
  return { clock, events, engine, link }
}

/** Opens a session whose answers a voice speaks, up to `onReady`. `at`: number of sessions before. */
export const setUpSpoken = async (
  server: EngineServer,
  options: Partial<RealtimeOptions> = {},
  request: Partial<EngineRequest> = {},
  at = 0,
) => {
  const voice = new FakeVoice('voice', false)
  const log = { warn: () => {} } as never
  const speech = { voices: [{ voice, names: ['acme.*'] }], log }
  return { ...(await ready(server, setUp(server, options, request, { speech }), at)), voice }
}

/** Opens a session up to `onReady`. */
export const setUpReady = async (
  server: EngineServer,
  options: Partial<RealtimeOptions> = {},
  request: Partial<EngineRequest> = {},
) => ready(server, setUp(server, options, request))

const ready = async (server: EngineServer, t: ReturnType<typeof setUp>, at = 0) => {
  const far = await server.connection(at)
  far.send({ type: 'session.created', session: { id: 's' } })
  await far.next({ type: 'session.update' })
  far.send({ type: 'session.updated', session: {} })
  await t.events.until('ready')
  return { ...t, far }
}

/** Begin of an answer. */
export const created = (id: string): ServerMessage => ({ type: 'response.created', response: { id } })
/** End of an answer. */
export const done = (id: string, members: ServerMessage = {}): ServerMessage => ({
  type: 'response.done',
  response: { id, status: 'completed', output: [], ...members },
})
/** Audio of an answer, in mu-law. */
export const audio = (
  response_id: string,
  item_id: string,
  ms: number,
  name = 'response.output_audio.delta',
) => ({
  type: name,
  response_id,
  item_id,
  content_index: 0,
  delta: Buffer.alloc(ms * 8, 0xff).toString('base64'),
})
/** Transcript of an answer. */
export const words = (response_id: string, item_id: string, delta: string): ServerMessage => ({
  type: 'response.output_audio_transcript.delta',
  response_id,
  item_id,
  delta,
})
/** Function call of an answer. */
export const called = (response_id: string, call_id: string, members: ServerMessage = {}): ServerMessage => ({
  type: 'response.function_call_arguments.done',
  response_id,
  item_id: `i-${call_id}`,
  call_id,
  name: 'f',
  arguments: '{}',
  ...members,
})
