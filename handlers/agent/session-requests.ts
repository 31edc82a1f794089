import type { FunctionDefinition, Json } from './document-types.ts'
import type { FunctionRequestFacts } from './function-request.ts'
import type { SessionState } from './session-state.ts'

/** Returns the facts of the conversation for the request of a function. */
export const requestFacts = (state: SessionState, of: FunctionDefinition): FunctionRequestFacts => {
  const { host, document, log, id, functions } = state
  const { info, signal } = host.call
  const { params } = document
  const { vars, call } = host.variables
  return {
    callId: info.callId,
    sessionId: id,
    projectId: info.projectId,
    spaceId: host.spaceId,
    ...(params.conversationId !== undefined && { conversationId: params.conversationId }),
    appName: params.appName,
    callerName: info.fromName,
    callerNumber: info.fromUser,
    isActive: !signal.aborted,
    globalData: state.globalData,
    metaData: functions.metaData(of.metaDataToken),
    ...variablesOf(params.postVariables, vars, call),
    ...(params.postConversation && { callLog: log.callLog, rawCallLog: log.rawCallLog }),
    ...(host.form && { form: host.form }),
  }
}

/** Returns the variables that the document wants in requests. */
const variablesOf = (
  wanted: boolean | readonly string[],
  vars: Json,
  call: Json,
): Pick<FunctionRequestFacts, 'scriptVariables' | 'scriptCall'> => {
  if (wanted === false) return {}
  if (wanted === true) return { scriptVariables: vars, scriptCall: call }
  const named = Object.entries(vars).filter(([name]) => wanted.includes(name))
  return { scriptVariables: Object.fromEntries(named) }
}
