import { randomUUID } from 'node:crypto'
import type { Target } from '../common/forms.ts'
import { withQuery } from '../common/urls.ts'
import type { HandlerContext } from '../handler.ts'
import type { CallInfo } from '../verbs.ts'
import type { ScriptIds } from './call-object.ts'
import { asText } from './variables.ts'

/** Tells what happens to one thing, such as a recording; `ends` as in {@link StatusCallback}. */
export type SendEvent = (params: Readonly<Record<string, unknown>>, ends?: string) => void

/** Where and how it is told. */
export interface EventTarget {
  /** Undefined: nobody is told. */
  readonly url: string | undefined
  readonly method?: 'GET' | 'POST'
}

/** Fields as a form or a query; undefined ones are left out. */
export const formOf = (fields: Readonly<Record<string, unknown>>): URLSearchParams => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, asText(value))
  return form
}

/** Tells customers' servers of one script, each time by the same envelope. */
export class StatusEvents {
  readonly #context: HandlerContext
  readonly #info: CallInfo
  readonly #ids: ScriptIds
  readonly #channel = `swml:${randomUUID()}`

  constructor(context: HandlerContext, info: CallInfo, ids: ScriptIds) {
    this.#context = context
    this.#info = info
    this.#ids = ids
  }

  /** Tells of one thing by events of one type, such as `calling.call.play`; `common` is in each. */
  sender(
    { url, method = 'POST' }: EventTarget,
    type: string,
    common: Readonly<Record<string, unknown>> = {},
  ): SendEvent {
    if (url === undefined) return () => {}
    return (params, ends) => this.#send({ url, method }, type, { ...common, ...params }, ends)
  }

  /** Ids of the call, for events about another one. */
  get nodeId(): string {
    return this.#ids.nodeId ?? ''
  }

  #send(
    { url, method }: Target,
    type: string,
    more: Readonly<Record<string, unknown>>,
    ends: string | undefined,
  ): void {
    const { callId, projectId } = this.#info
    const params = { call_id: callId, node_id: this.nodeId, segment_id: callId, ...more }
    const envelope = {
      event_type: type,
      event_channel: this.#channel,
      timestamp: this.#context.now() / 1000,
      project_id: projectId,
      space_id: this.#ids.spaceId ?? '',
    }
    const told = { method, kind: type.split('.').at(-1) ?? type, ...(ends !== undefined && { ends }) }
    if (method === 'GET') {
      this.#context.notify({ url: withQuery(url, formOf({ ...envelope, ...params })), ...told })
    } else {
      const body = { contentType: 'application/json', text: JSON.stringify({ ...envelope, params }) }
      this.#context.notify({ url, ...told, body })
    }
  }
}
