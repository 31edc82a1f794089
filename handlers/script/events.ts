import { randomUUID } from 'node:crypto'
import { asText } from '../common/as-text.ts'
import type { Target } from '../common/forms.ts'
import { withQuery } from '../common/urls.ts'
import type { HandlerContext } from '../handler.ts'
import type { CallInfo } from '../verbs.ts'
import type { ScriptIds } from './call-object.ts'

/** Sends an event about one subject, such as a recording; `ends` as in {@link StatusCallback}. */
export type SendEvent = (params: Readonly<Record<string, unknown>>, ends?: string) => void

/** Returns fields as a form or query, without undefined fields. */
export const formOf = (fields: Readonly<Record<string, unknown>>): URLSearchParams => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, asText(value))
  return form
}

/** Sender of one script's events to customers' servers, with a common envelope. */
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

  /**
   * Returns a function that sends events of one type, such as `calling.call.play`, each with the `common`
   * parameters. It sends nothing without a URL.
   */
  sender(
    url: string | undefined,
    type: string,
    common: Readonly<Record<string, unknown>> = {},
    method: 'GET' | 'POST' = 'POST',
  ): SendEvent {
    if (url === undefined) return () => {}
    return (params, ends) => this.#send({ url, method }, type, { ...common, ...params }, ends)
  }

  /** Id of the gateway's node, for events about another call. */
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
    const common = { method, kind: type.split('.').at(-1) ?? type, ...(ends !== undefined && { ends }) }
    if (method === 'GET') {
      this.#context.notify({ url: withQuery(url, formOf({ ...envelope, ...params })), ...common })
    } else {
      const body = { contentType: 'application/json', text: JSON.stringify({ ...envelope, params }) }
      this.#context.notify({ url, ...common, body })
    }
  }
}
