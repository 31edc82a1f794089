import type { Cause } from '../../core/errors/catalogue.ts'
import type { Call } from '../call/call.ts'
import { CallAgents } from './call-agents.ts'
import { CallCollections } from './call-collections.ts'
import type { CallControllerDeps } from './call-controller-deps.ts'
import { CallPlaybacks } from './call-playbacks.ts'
import { CallRecordings } from './call-recordings.ts'
import { CallStreams } from './call-streams.ts'
import { Hold } from './hold.ts'
import { VerbLog } from './verb-log.ts'

/** State that all scopes of one call's verbs share. */
export interface VerbState {
  readonly log: VerbLog
  readonly playbacks: CallPlaybacks
  readonly collections: CallCollections
  readonly streams: CallStreams
  readonly recordings: CallRecordings
  readonly hold: Hold
  /** Absent: the gateway has no voice agents. */
  readonly agents?: CallAgents
  /** Rejection of the last `connect`: gives the status of an unanswered call when its document ends. */
  refusal?: Cause | undefined
  /** Failure of the gateway that ended the last `connect`: the call ends with it, too. */
  fault?: Cause | undefined
  /**
   * Removal from the room that the last verb was in. Absent as soon as another verb than `hangup` starts: the
   * call goes on, and its end has other reasons. An end long after the removal has other reasons, too.
   */
  removal?: Removal | undefined
}

/** Removal from a room, with the uptime of the end of its verb in ms. */
interface Removal {
  readonly reason: NonNullable<Cause['removal']>
  readonly at: number
}

/** Opens the state of a call's verbs. */
export const openVerbs = (deps: CallControllerDeps, call: Call): VerbState => {
  const { services, speech, meter, clock } = deps
  const playbacks = new CallPlaybacks(services.player, call)
  const state: VerbState = {
    log: new VerbLog(call, meter, clock),
    playbacks,
    collections: new CallCollections(speech, clock, call, playbacks),
    streams: new CallStreams(services.streams, call),
    recordings: new CallRecordings(services.recordings, call),
    hold: new Hold(services.player, call),
    ...(services.agents && { agents: new CallAgents(services.agents, call) }),
  }
  state.log.listen((event) => {
    if (event.state === 'started' && event.verb !== 'hangup') state.removal = undefined
  })
  return state
}
