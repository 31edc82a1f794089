import type { CallControl, CallInfo } from '../verbs.ts'
import { partsOf, segmentsOf } from './placeholders.ts'

/** Ids of the gateway that documents see; all default to an empty text. */
export interface ScriptIds {
  readonly nodeId?: string
  readonly spaceId?: string
}

/** What a script can look up: `call` (read-only), `vars` (set by methods), `envs` and `params`. */
export class Variables {
  readonly vars: Record<string, unknown> = {}
  readonly envs: Readonly<Record<string, unknown>> = {}
  readonly params: Readonly<Record<string, unknown>> = {}
  #call: CallControl
  #ids: ScriptIds

  constructor(call: CallControl, ids: ScriptIds) {
    this.#call = call
    this.#ids = ids
  }

  /** The object `call`, as it is now. */
  get call(): Readonly<Record<string, unknown>> {
    return callObject(this.#call, this.#ids)
  }

  /** The value at a path; an unset one is undefined. Without a prefix `vars`, then `envs`, then `call` are searched. */
  lookup(path: string): unknown {
    const segments = segmentsOf(path)
    const [first = '', ...rest] = segments
    switch (first) {
      case 'call':
      case 'vars':
      case 'envs':
      case 'params':
        return walk(this[first], rest)
      default:
        return walk(this.vars, segments) ?? walk(this.envs, segments) ?? walk(this.call, segments)
    }
  }

  /**
   * The text with every placeholder replaced; an unset path is an empty text. A text that is exactly one placeholder keeps the value's
   * type. `literal` is applied to what stands between placeholders.
   */
  substitute(text: string, literal: (text: string) => string = (same) => same): unknown {
    const parts = partsOf(text)
    const [only] = parts
    if (parts.length === 1 && only && 'path' in only) return this.lookup(only.path) ?? ''
    return parts
      .map((part) => ('path' in part ? asText(this.lookup(part.path)) : literal(part.literal)))
      .join('')
  }
}

/** How a value reads inside a text. */
export const asText = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Follows own properties only: a path such as `constructor` finds nothing. */
const walk = (from: unknown, segments: readonly string[]): unknown => {
  let value = from
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined
    value = (value as Record<string, unknown>)[segment]
  }
  return value
}

const callState = (call: CallControl): string => {
  if (call.signal.aborted) return 'ended'
  return call.answered ? 'answered' : 'created'
}

const callObject = (call: CallControl, ids: ScriptIds): Readonly<Record<string, unknown>> => {
  const { info } = call
  return {
    call_id: info.callId,
    node_id: ids.nodeId ?? '',
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
    ...(info.type === 'sip' && { sip_data: sipData(info) }),
    project_id: info.projectId,
    space_id: ids.spaceId ?? '',
  }
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
