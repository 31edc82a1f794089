import type { AgentTranscriptEvent } from '../../../handlers/verbs.ts'
import { isTooLarge, replacesPartial } from '../../calls/leg/transcript-events.ts'
import type { Application } from './application.ts'

/** Clients that start no agents. Versions 3.x log a warning for each event of one. */
const withoutAgents = /^@signalwire\/(nodejs\/)?realtime-api\//

/**
 * Returns a function that sends the live transcript of a voice agent as `calling.call.ai`. The published
 * clients wait for the states finished and error, and pass others to the listeners of the event. `ids`: those
 * of the call and, if the application started the agent, of its operation. Clients without agents receive
 * nothing.
 */
export const transcriptSender = (
  application: Pick<Application, 'agent' | 'emit' | 'nodeId'>,
  ids: { readonly call_id: string; readonly control_id?: string },
): ((event: AgentTranscriptEvent) => void) => {
  if (withoutAgents.test(application.agent)) return () => {}
  let heard: AgentTranscriptEvent | undefined
  return (event) => {
    const { type, params } = event
    if (replacesPartial(event) || type === 'stop') heard = event
    if (isTooLarge(event)) return
    // An application that returns must not receive words that are out of date.
    const isStale = () => type === 'partial_result' && heard !== event
    const content = { ...ids, node_id: application.nodeId, state: type, result: params }
    application.emit('calling.call.ai', content, { isStale, isExpendable: type !== 'start' })
  }
}
