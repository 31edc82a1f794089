import type { CallControl, CallInfo } from '../verbs.ts'

/** Ids of the gateway that documents can read; default empty. */
export interface ScriptIds {
  readonly nodeId?: string
  readonly spaceId?: string
}

/** Returns the present value of the variable `call`. `parent` is the caller's call if `call` is a callee. */
export const callObject = (
  call: CallControl,
  ids: ScriptIds,
  parent?: CallInfo,
): Readonly<Record<string, unknown>> => {
  const { info } = call
  const node_id = ids.nodeId ?? ''
  return {
    call_id: info.callId,
    node_id,
    segment_id: info.callId,
    call_state: callState(call),
    direction: info.direction,
    type: info.type,
    from: info.from,
    to: info.to,
    from_number: info.fromUser,
    to_number: info.toUser,
    from_name: info.fromName,
    headers: info.headers,
    ...(parent && {
      parent: { device_type: parent.type, call_id: parent.callId, node_id },
      peer: { call_id: parent.callId, node_id },
    }),
    ...(info.type === 'sip' && { sip_data: sipData(info) }),
    project_id: info.projectId,
    space_id: ids.spaceId ?? '',
  }
}

const callState = (call: CallControl): string => {
  if (call.signal.aborted) return 'ended'
  return call.isAnswered ? 'answered' : 'created'
}

const sipData = (info: CallInfo): Readonly<Record<string, string>> => ({
  sip_req_uri: info.to,
  sip_req_user: info.toUser,
  sip_req_host: info.sip?.domain ?? hostOf(info.to),
  sip_from_uri: info.from,
  sip_from_user: info.fromUser,
  sip_from_host: hostOf(info.from),
  sip_to_uri: info.to,
  sip_to_user: info.toUser,
  sip_to_host: hostOf(info.to),
})

const hostOf = (uri: string): string => /^sips?:(?:[^@]*@)?(\[[^\]]*\]|[^:;?]*)/i.exec(uri)?.[1] ?? ''
