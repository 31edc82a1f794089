import type {
  AgentOptions,
  CallAgent,
  CallRecording,
  CallStream,
  RecordOptions,
  StreamOptions,
} from '../../../handlers/verbs.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'
import type { VerbState } from './verb-state.ts'

/** Verb that goes on after its start, until `ended` settles. `ended` rejects with the failure of the verb. */
export interface Lasting<T> {
  readonly started: T
  readonly ended: Promise<unknown>
}

/** Starts a stream; see `CallControl.startStream`. */
export const beginStream = async (
  call: Call,
  { streams }: VerbState,
  options: StreamOptions,
): Promise<Lasting<CallStream>> => {
  const started = streams.start(await call.openAudio(true), options)
  const ended = async () => {
    const end = await started.ended
    if (end.kind === 'failed') throw verbFailed('stream_failed', end.reason)
  }
  return { started, ended: ended() }
}

/** Starts a recording, which the signal of the options stops; see `CallControl.startRecording`. */
export const beginRecording = async (
  call: Call,
  { log, recordings, collections }: VerbState,
  options: RecordOptions,
): Promise<Lasting<CallRecording>> => {
  const { signal } = options
  const port = await call.openAudio(true, signal)
  log.check(signal)
  const started = recordings.start(port, options)
  const stop = () => started.stop()
  signal?.addEventListener('abort', stop, { once: true })
  const ended = async () => {
    const { reason } = await started.ended
    signal?.removeEventListener('abort', stop)
    // The key that ended the recording does not count for the next collection.
    if (reason === 'terminator') collections.forgetKeys()
    if (reason === 'error') throw verbFailed('recording_failed')
  }
  return { started, ended: ended() }
}

/** Starts a voice agent; see `CallControl.startAgent`. */
export const beginAgent = async (
  { agents }: VerbState,
  options: AgentOptions,
): Promise<Lasting<CallAgent>> => {
  if (!agents) throw verbFailed('agents_unavailable')
  const started = await agents.start(options)
  const ended = async () => {
    const end = await started.ended
    if (end.kind === 'failed') throw verbFailed('agent_failed', end.reason)
  }
  return { started, ended: ended() }
}
